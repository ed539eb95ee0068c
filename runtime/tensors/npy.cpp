#include "runtime/tensors/npy.h"

#include "runtime/failure.h"
#include "runtime/tensors/npy_dtype.h"
#include "runtime/tensors/npy_header_text.h"
#include "runtime/tensors/unpack.h"
#include "support/check.h"

namespace tap {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t preamble_1 = 10;  // magic, version, 16-bit header length
constexpr std::size_t preamble_2 = 12;  // the same with a 32-bit one

Failure truncated(const std::string& source_name, std::string_view part, std::uint64_t expected, std::uint64_t found) {
  return wrong_data(Code::data_malformed, source_name + " is truncated in its " + std::string(part) + ": " +
                                              plural(expected, "byte") + " expected, " + std::to_string(found) +
                                              " found");
}

std::string version_text(std::byte major, std::byte minor) {
  return std::to_string(static_cast<int>(major)) + "." + std::to_string(static_cast<int>(minor));
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const std::string& source_name, const DataLimits& limits) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::string_view start = text.substr(0, magic.size());
  if (start != magic.substr(0, start.size())) {
    throw wrong_data(Code::data_malformed, source_name + " is not a .npy file: it does not begin with \\x93NUMPY");
  }
  if (text.size() < magic.size()) throw truncated(source_name, "magic", magic.size(), text.size());
  if (text.size() < magic.size() + 2) throw truncated(source_name, "version", magic.size() + 2, text.size());
  std::byte major = bytes[6], minor = bytes[7];
  if (minor != std::byte{0} || major < std::byte{1} || major > std::byte{3}) {
    throw wrong_data(Code::data_malformed, source_name + " has version " + version_text(major, minor) +
                                               " of the .npy format; supported are 1.0, 2.0 and 3.0");
  }
  std::size_t preamble = major == std::byte{1} ? preamble_1 : preamble_2;
  if (text.size() < preamble) throw truncated(source_name, "header length", preamble, text.size());
  std::size_t length = major == std::byte{1} ? load_little<std::uint16_t>(bytes.data() + 8)
                                             : load_little<std::uint32_t>(bytes.data() + 8);
  if (length > text.size() - preamble) throw truncated(source_name, "header", preamble + length, text.size());

  NpyHeaderText fields = parse_npy_header_text(text.substr(preamble, length), source_name, limits.dims);
  NpyType type = parse_npy_type(fields.descr, source_name);
  return {type.type, type.big_endian, fields.fortran_order, std::move(fields.shape), preamble + length};
}

std::uint64_t npy_head_bytes(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (start.size() < npy_preamble || !text.starts_with(magic)) return start.size();
  if (start[6] == std::byte{1}) return preamble_1 + load_little<std::uint16_t>(start.data() + 8);
  return preamble_2 + std::uint64_t{load_little<std::uint32_t>(start.data() + 8)};
}

void require_npy_size(const NpyHeader& header, std::uint64_t file_bytes, const std::string& source_name,
                      const DataLimits& limits) {
  const std::uint64_t expected = checked_byte_size(header.type, header.shape, source_name, limits);
  const std::uint64_t found = file_bytes - header.data_offset;
  if (found == expected) return;
  throw wrong_data(Code::data_malformed,
                   source_name + (found < expected ? " is truncated in its data: " : " has data after its end: ") +
                       describe(header.type, header.shape) + " takes " + plural(expected, "byte") + ", and " +
                       std::to_string(found) + " follow the header");
}

Tensor parse_npy(const SharedBytes& bytes, const std::string& source_name, const DataLimits& limits) {
  NpyHeader header = parse_npy_header(bytes.span(), source_name, limits);
  require_npy_size(header, bytes.size(), source_name, limits);
  const std::uint64_t expected = bytes.size() - header.data_offset;
  return unpack(bytes.slice(header.data_offset, expected), {header.type, header.big_endian, header.fortran_order},
                std::move(header.shape), source_name);
}

bool npy_can_hold(ElementType type) { return npy_type_of(type) != nullptr; }

std::string npy_header(ElementType type, const Shape& shape) {
  TAP_CHECK(npy_can_hold(type), "NumPy lacks this element type");
  std::string dict = "{'descr': '" + std::string(npy_type_of(type)) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) dict += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  dict += shape.size() == 1 ? ",), }" : "), }";
  std::size_t total = (preamble_1 + dict.size() + 1 + 63) / 64 * 64;
  std::size_t length = total - preamble_1;
  dict.append(length - dict.size() - 1, ' ');
  dict += '\n';
  TAP_CHECK(length <= 0xFFFF, "a .npy header is too long");
  std::string text(magic);
  text += {'\1', '\0', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  return text + dict;
}

}  // namespace tap
