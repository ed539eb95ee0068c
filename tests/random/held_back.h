// Kinds of statements that the generator leaves out while the compiler is known to fail on them. Empty it is best: each line
// names what is wrong, and goes with the fix.
#pragma once

#include <string_view>

namespace tap::random {

struct HeldBack {
  std::string_view feature;
  enum How { altogether, under_shardings } how;
  std::string_view why;
};
inline constexpr HeldBack held_back[] = {
    {"reduction of one point", HeldBack::altogether,
     "compose_maps: a read that is bounded is not what the checker expects (T1401)"},
    {"map beside reduction", HeldBack::under_shardings,
     "partials have a monoid that combines them: explicit_reshards.cpp"},
    {"triangular product", HeldBack::under_shardings,
     "partials have a monoid that combines them: explicit_reshards.cpp"},
};

inline bool is_held_back(std::string_view feature, HeldBack::How how) {
  for (const HeldBack& one : held_back)
    if (one.feature == feature && one.how == how) return true;
  return false;
}

}  // namespace tap::random
