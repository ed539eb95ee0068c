// SHA-256, for the names and contents of cached kernels. An attacker who chooses a program must not be able to make
// it collide with another one, so a faster, non-cryptographic hash is not enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tap::backend {

using Digest = std::array<std::uint8_t, 32>;

// A digest of the parts with their lengths, so that ("ab", "c") and ("a", "bc") differ.
Digest digest_of(std::initializer_list<std::string_view> parts);
std::string to_hex(const Digest& digest);  // 64 digits

// BLAKE3 of much data, piece by piece: several times as fast, and as hard to make collide.
class ContentDigest {
 public:
  ContentDigest();
  ~ContentDigest();
  ContentDigest(const ContentDigest&) = delete;
  ContentDigest& operator=(const ContentDigest&) = delete;
  void add(std::span<const std::byte> bytes);
  Digest digest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
