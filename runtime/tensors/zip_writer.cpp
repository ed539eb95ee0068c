// Writes an uncompressed zip archive of arrays.
#include <zlib.h>

#include "runtime/tensors/npy.h"
#include "runtime/tensors/npz.h"
#include "runtime/tensors/zip_layout.h"

namespace tap {
namespace {

// Little-endian fields, appended.
class Fields {
 public:
  Fields& u16(std::uint64_t v) { return add(v, 2); }
  Fields& u32(std::uint64_t v) { return add(v, 4); }
  Fields& u64(std::uint64_t v) { return add(v, 8); }
  Fields& text(std::string_view v) {
    bytes_ += v;
    return *this;
  }
  std::size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  Fields& add(std::uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(v >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

constexpr std::uint16_t needs_zip64 = 45;  // "version needed to extract" 4.5
constexpr std::uint16_t utf8_names = 1 << 11;
constexpr std::uint16_t first_of_1980 = 0x21;  // a fixed date, so that equal tensors give equal files

struct Written {
  std::string name;
  std::uint64_t offset, size;
  std::uint32_t crc;
};

std::uint32_t checksum(std::uint32_t crc, std::string_view bytes) {
  while (!bytes.empty()) {
    std::string_view portion = bytes.substr(0, 1u << 30);
    crc = static_cast<std::uint32_t>(
        crc32(crc, reinterpret_cast<const Bytef*>(portion.data()), static_cast<uInt>(portion.size())));
    bytes.remove_prefix(portion.size());
  }
  return crc;
}

// Every entry has its sizes in a zip64 field: one form for all, which is also what NumPy writes.
std::string local_header(const Written& entry) {
  constexpr std::size_t zip64_field = 20, alignment_field = 6;
  std::uint64_t end = entry.offset + zip::local_size + entry.name.size() + zip64_field + alignment_field;
  std::size_t padding = (64 - end % 64) % 64;
  Fields f;
  f.u32(zip::local_signature)
      .u16(needs_zip64)
      .u16(utf8_names)
      .u16(zip::stored)
      .u16(0)
      .u16(first_of_1980)
      .u32(entry.crc);
  f.u32(zip::all32)
      .u32(zip::all32)
      .u16(entry.name.size())
      .u16(zip64_field + alignment_field + padding)
      .text(entry.name);
  f.u16(zip::extra_zip64).u16(16).u64(entry.size).u64(entry.size);
  f.u16(zip::extra_alignment).u16(2 + padding).u16(64).text(std::string(padding, '\0'));
  return f.take();
}

void central_header(Fields& f, const Written& entry) {
  f.u32(zip::central_signature)
      .u16(needs_zip64)
      .u16(needs_zip64)
      .u16(utf8_names)
      .u16(zip::stored)
      .u16(0)
      .u16(first_of_1980);
  f.u32(entry.crc)
      .u32(zip::all32)
      .u32(zip::all32)
      .u16(entry.name.size())
      .u16(28)
      .u16(0)
      .u16(0)
      .u16(0)
      .u32(0)
      .u32(zip::all32);
  f.text(entry.name).u16(zip::extra_zip64).u16(24).u64(entry.size).u64(entry.size).u64(entry.offset);
}

std::string directory_of(const std::vector<Written>& entries, std::uint64_t offset) {
  Fields f;
  for (const Written& entry : entries) central_header(f, entry);
  std::uint64_t size = f.size(), end64 = offset + size, count = entries.size();
  bool large = end64 >= zip::all32 || count >= zip::all16;
  if (large) {
    f.u32(zip::end64_signature).u64(zip::end64_size - 12).u16(needs_zip64).u16(needs_zip64).u32(0).u32(0);
    f.u64(count).u64(count).u64(size).u64(offset);
    f.u32(zip::locator64_signature).u32(0).u64(end64).u32(1);
  }
  std::uint64_t short_count = large ? std::uint64_t{zip::all16} : count;
  f.u32(zip::end_signature).u16(0).u16(0).u16(short_count).u16(short_count);
  f.u32(large ? zip::all32 : size).u32(large ? zip::all32 : offset).u16(0);
  return f.take();
}

}  // namespace

Content encode_npz(const std::vector<NamedTensor>& tensors) {
  Content content;
  std::vector<Written> entries;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    std::string header = npy_header(tensor.type(), tensor.shape());
    Written entry{name + ".npy", offset, header.size() + tensor.byte_size(), 0};
    entry.crc = checksum(checksum(0, header), bytes_of(Content::value_type(tensor)));
    std::string local = local_header(entry);
    offset += local.size() + entry.size;
    content.emplace_back(local + header);
    content.emplace_back(tensor);
    entries.push_back(std::move(entry));
  }
  content.emplace_back(directory_of(entries, offset));
  return content;
}

}  // namespace tap
