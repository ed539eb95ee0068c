#include "runtime/tensors/unpack.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/failure.h"
#include "runtime/limits.h"
#include "support/alignment.h"
#include "support/check.h"

namespace tap {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are used in place as little-endian data");

void copy_element(std::byte* to, const std::byte* from, std::size_t size, bool reversed) {
  if (!reversed) {
    std::memcpy(to, from, size);
    return;
  }
  for (std::size_t i = 0; i < size; ++i) to[i] = from[size - 1 - i];
}

// Traverses the shape in row-major order, and tracks the Fortran position.
void copy_transposed(std::byte* to, const std::byte* from, const Shape& shape, std::size_t size, bool reversed) {
  std::vector<std::int64_t> stride(shape.size()), index(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    stride[d] = step;
    step *= shape[d];
  }
  std::int64_t position = 0;
  for (std::int64_t left = element_count(shape); left > 0; --left, to += size) {
    copy_element(to, from + static_cast<std::size_t>(position) * size, size, reversed);
    for (std::size_t d = shape.size(); d-- > 0;) {
      position += stride[d];
      if (++index[d] < shape[d]) break;
      position -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

void require_bools(const Tensor& tensor, const std::string& source_name) {
  auto bytes = tensor.as<std::uint8_t>();
  auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b > 1; });
  if (bad == bytes.end()) return;
  throw wrong_data(Code::data_malformed, source_name + " has the byte " + std::to_string(*bad) + " as element " +
                                             std::to_string(bad - bytes.begin()) +
                                             " of a bool tensor; expected 0 or 1");
}

}  // namespace

Tensor unpack(const SharedBytes& bytes, const Packing& packing, Shape shape, const std::string& source_name) {
  std::size_t size = size_of(packing.type);
  // Without elements or with at most one extent above 1 both orders are the same.
  bool transposed = packing.fortran_order &&
                    std::count_if(shape.begin(), shape.end(), [](auto e) { return e != 1; }) > 1;
  bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % buffer_alignment == 0;
  if (aligned && !transposed && !packing.big_endian && !is_bool(packing.type)) {
    return Tensor(packing.type, std::move(shape), bytes.owner());
  }
  Tensor tensor = make_tensor(packing.type, shape, source_name);
  TAP_CHECK(tensor.byte_size() == bytes.size(), "the data of a file do not have the size of its tensor");
  std::byte* to = tensor.mutable_data();
  if (transposed) {
    copy_transposed(to, bytes.data(), shape, size, packing.big_endian);
  } else if (packing.big_endian) {
    for (std::size_t i = 0; i < bytes.size(); i += size) copy_element(to + i, bytes.data() + i, size, true);
  } else if (bytes.size() > 0) {
    std::memcpy(to, bytes.data(), bytes.size());
  }
  if (is_bool(packing.type)) require_bools(tensor, source_name);
  return tensor;
}

}  // namespace tap
