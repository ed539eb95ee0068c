#include "ir/graphs/program_hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "ir/text.h"

namespace tap::ir {

std::string hash_of_text(std::string_view text) {
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string hash_of(const Program& program) { return hash_of_text(print(program)); }

std::int64_t short_hash(const std::string& hash) {
  constexpr std::size_t digits = 14;  // 56 bits, so that the product is not negative
  return static_cast<std::int64_t>(std::stoull(hash.substr(0, digits), nullptr, 16) * 4);
}

}  // namespace tap::ir
