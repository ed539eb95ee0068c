// A dense tensor in memory, row-major, aligned to 64 bytes. Sizes are checked before allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/element_type.h"

namespace tap {

using Shape = std::vector<std::int64_t>;

std::string to_string(const Shape& shape);       // [2, 3]
std::int64_t element_count(const Shape& shape);  // throws Overflow
std::vector<std::int64_t> row_major_strides(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;
  Tensor(ElementType type, Shape shape);  // zeros; throws Overflow or std::bad_alloc
  // Shares bytes of another owner, for example a mapped file; the caller must not write to it.
  Tensor(ElementType type, Shape shape, std::shared_ptr<const std::byte> bytes);

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return size_; }
  std::size_t byte_size() const { return static_cast<std::size_t>(size_) * size_of(type_); }
  const std::byte* data() const { return bytes_.get(); }
  std::byte* mutable_data();  // copies first if the bytes are shared

  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(size_)};
  }
  template <class T>
  std::span<T> as_mutable() {
    return {reinterpret_cast<T*>(mutable_data()), static_cast<std::size_t>(size_)};
  }

  // One element by its row-major position. Integers and bool are exact in the i64 forms, floats in the f64 forms
  // (a store rounds to nearest even, or wraps).
  double load_f64(std::int64_t at) const;
  std::int64_t load_i64(std::int64_t at) const;
  void store_f64(std::int64_t at, double value);
  void store_i64(std::int64_t at, std::int64_t value);

 private:
  ElementType type_ = ElementType::f32;
  Shape shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<std::byte> bytes_;
  bool shared_ = false;
};

}  // namespace tap
