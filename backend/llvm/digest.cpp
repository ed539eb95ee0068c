#include "backend/llvm/digest.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/SHA256.h>

#include <algorithm>

namespace tap::backend {

Digest digest_of(std::initializer_list<std::string_view> parts) {
  llvm::SHA256 hash;
  for (std::string_view part : parts) {
    std::array<std::uint8_t, 8> length{};
    for (std::size_t k = 0; k < length.size(); ++k) length[k] = static_cast<std::uint8_t>(part.size() >> 8 * k & 0xFF);
    hash.update(llvm::ArrayRef<std::uint8_t>(length));
    hash.update(llvm::StringRef(part.data(), part.size()));
  }
  return hash.final();
}

std::string to_hex(const Digest& digest) {
  std::string text;
  for (std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

struct ContentDigest::Impl {
  llvm::BLAKE3 hash;
};

ContentDigest::ContentDigest() : impl_(std::make_unique<Impl>()) {}
ContentDigest::~ContentDigest() = default;

void ContentDigest::add(std::span<const std::byte> bytes) {
  impl_->hash.update(llvm::ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

Digest ContentDigest::digest() const {
  Digest result{};
  const auto hash = impl_->hash.final<std::tuple_size_v<Digest>>();
  std::copy(hash.begin(), hash.end(), result.begin());
  return result;
}

}  // namespace tap::backend
