// A range of bytes with its owner: a mapped file, a buffer, or (for tests and fuzzers) none. Tensors share the bytes
// of their file, so the file stays mapped as long as one of its tensors exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "support/check.h"
#include "support/large_memory.h"

namespace tap {

class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<const std::byte> data, std::size_t size) : data_(std::move(data)), size_(size) {}

  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<const std::byte> span() const { return {data_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }
  const std::shared_ptr<const std::byte>& owner() const { return data_; }

  SharedBytes slice(std::size_t offset, std::size_t size) const {
    TAP_CHECK(offset <= size_ && size <= size_ - offset, "a slice exceeds its bytes");
    return {std::shared_ptr<const std::byte>(data_, data_.get() + offset), size};
  }

 private:
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

// Uninitialised memory, aligned to 64 bytes as a Tensor's is. Throws std::bad_alloc.
inline std::shared_ptr<std::byte> aligned_bytes(std::size_t size) {
  auto* memory = static_cast<std::byte*>(large_memory(size));
  if (!memory) throw std::bad_alloc();
  return {memory, [](std::byte* p) { free(p); }};
}

// Little-endian numbers of any alignment. Pre: the bytes are there.
template <class T>
T load_little(const std::byte* at) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>((value << 8) | static_cast<T>(at[i]));
  return value;
}

}  // namespace tap
