#include "support/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "support/check.h"
#include "support/checked.h"
#include "support/half.h"
#include "support/large_memory.h"

namespace tap {
namespace {

// Never empty, so that data() of a tensor without elements is still a valid, aligned address.
std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  auto* memory = static_cast<std::byte*>(large_memory(bytes));
  if (!memory) throw std::bad_alloc();
  return {memory, [](std::byte* p) { free(p); }};
}

// float → int truncates and saturates, NaN gives 0: the language's rule.
std::int64_t to_integer(double value, ElementType type) {
  if (std::isnan(value)) return 0;
  double least = static_cast<double>(least_integer(type));
  double beyond = static_cast<double>(greatest_integer(type)) + (type == ElementType::i64 ? 0.0 : 1.0);
  if (value <= least) return least_integer(type);
  if (value >= beyond) return greatest_integer(type);
  return static_cast<std::int64_t>(value);
}

template <class T>
T get(const std::byte* data, std::int64_t at) {
  T value;
  std::memcpy(&value, data + static_cast<std::size_t>(at) * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put(std::byte* data, std::int64_t at, T value) {
  std::memcpy(data + static_cast<std::size_t>(at) * sizeof(T), &value, sizeof(T));
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  text += ']';
  return text;
}

std::int64_t element_count(const Shape& shape) {
  // Extents of 0 count as 1 until the end, so that strides do not overflow unless the count does.
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t extent : shape) {
    TAP_CHECK(extent >= 0, "a shape has a negative extent");
    if (extent == 0) empty = true;
    else count = checked::mul(count, extent);
  }
  return empty ? 0 : count;
}

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = checked::mul(stride, std::max<std::int64_t>(shape[i], 1));
  }
  return strides;
}

Tensor::Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)), size_(element_count(shape_)) {
  // No process can have more. Rejected here, since some allocators treat such requests as a fault.
  constexpr std::int64_t largest = std::int64_t{1} << 39;
  if (checked::mul(size_, static_cast<std::int64_t>(size_of(type_))) > largest) throw std::bad_alloc();
  bytes_ = allocate(byte_size());
  std::memset(bytes_.get(), 0, byte_size());
}

Tensor::Tensor(ElementType type, Shape shape, std::shared_ptr<const std::byte> bytes)
    : type_(type),
      shape_(std::move(shape)),
      size_(element_count(shape_)),
      bytes_(std::const_pointer_cast<std::byte>(std::move(bytes))),
      shared_(true) {
  checked::mul(size_, static_cast<std::int64_t>(size_of(type_)));
}

std::byte* Tensor::mutable_data() {
  // A copy of a Tensor shares its bytes until one of the two is written.
  if (bytes_ && (shared_ || bytes_.use_count() > 1)) {
    auto own = allocate(byte_size());
    std::memcpy(own.get(), bytes_.get(), byte_size());
    bytes_ = std::move(own);
    shared_ = false;
  }
  return bytes_.get();
}

double Tensor::load_f64(std::int64_t at) const {
  switch (type_) {
    case ElementType::f64: return get<double>(data(), at);
    case ElementType::f32: return get<float>(data(), at);
    case ElementType::f16: return decode_f16(get<std::uint16_t>(data(), at));
    case ElementType::bf16: return decode_bf16(get<std::uint16_t>(data(), at));
    case ElementType::i64:
    case ElementType::i32:
    case ElementType::i16:
    case ElementType::i8:
    case ElementType::u8:
    case ElementType::boolean: return static_cast<double>(load_i64(at));
  }
  TAP_UNREACHABLE("an unknown element type");
}

std::int64_t Tensor::load_i64(std::int64_t at) const {
  switch (type_) {
    case ElementType::i64: return get<std::int64_t>(data(), at);
    case ElementType::i32: return get<std::int32_t>(data(), at);
    case ElementType::i16: return get<std::int16_t>(data(), at);
    case ElementType::i8: return get<std::int8_t>(data(), at);
    case ElementType::u8: return get<std::uint8_t>(data(), at);
    case ElementType::boolean: return get<std::uint8_t>(data(), at) != 0;
    case ElementType::f64:
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16: return to_integer(load_f64(at), ElementType::i64);
  }
  TAP_UNREACHABLE("an unknown element type");
}

void Tensor::store_f64(std::int64_t at, double value) {
  switch (type_) {
    case ElementType::f64: return put(mutable_data(), at, value);
    case ElementType::f32: return put(mutable_data(), at, static_cast<float>(value));
    case ElementType::f16: return put(mutable_data(), at, encode_f16(value));
    case ElementType::bf16: return put(mutable_data(), at, encode_bf16(value));
    case ElementType::boolean: return put(mutable_data(), at, static_cast<std::uint8_t>(value != 0));
    case ElementType::i64:
    case ElementType::i32:
    case ElementType::i16:
    case ElementType::i8:
    case ElementType::u8: return store_i64(at, to_integer(value, type_));
  }
}

void Tensor::store_i64(std::int64_t at, std::int64_t value) {
  switch (type_) {
    case ElementType::i64: return put(mutable_data(), at, value);
    case ElementType::i32: return put(mutable_data(), at, static_cast<std::int32_t>(value));
    case ElementType::i16: return put(mutable_data(), at, static_cast<std::int16_t>(value));
    case ElementType::i8: return put(mutable_data(), at, static_cast<std::int8_t>(value));
    case ElementType::u8:
    case ElementType::boolean: return put(mutable_data(), at, static_cast<std::uint8_t>(wrap(value, type_)));
    case ElementType::f64: return put(mutable_data(), at, static_cast<double>(value));
    case ElementType::f32: return put(mutable_data(), at, static_cast<float>(value));
    case ElementType::f16:
    case ElementType::bf16: return store_f64(at, static_cast<double>(folded_for_half(value)));
  }
}

}  // namespace tap
