// Kinds of statements that the generator leaves out because the compiler is known to fail on them. Ideally empty: each line
// names the defect and is removed by its fix.
#pragma once

#include <array>
#include <string_view>

namespace tap::random {

struct KnownFailure {
  std::string_view feature;
  enum Scope { everywhere, under_shardings, native_groups } scope;
  std::string_view why;
};
inline constexpr std::array<KnownFailure, 0> known_failures = {};

inline bool is_known_failure(std::string_view feature, KnownFailure::Scope scope) {
  for (const KnownFailure& one : known_failures)
    if (one.feature == feature && one.scope == scope) return true;
  return false;
}

}  // namespace tap::random
