// SHA-256: the names of kernels in the cache, and what their contents are held against. An attacker who chooses a program
// must not be able to make it pass for another one, so a faster hash will not do.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tap::backend {

using Digest = std::array<std::uint8_t, 32>;

// Of the parts, each with its length, so that ("ab", "c") and ("a", "bc") differ.
Digest digest_of(std::initializer_list<std::string_view> parts);
std::string to_hex(const Digest& digest);  // 64 digits

}  // namespace tap::backend
