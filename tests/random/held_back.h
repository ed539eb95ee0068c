// Kinds of statements that the generator leaves out while the compiler is known to fail on them. Empty it is best: each line
// names what is wrong, and goes with the fix.
#pragma once

#include <array>
#include <string_view>

namespace tap::random {

struct HeldBack {
  std::string_view feature;
  enum How { altogether, under_shardings, native_groups } how;
  std::string_view why;
};
inline constexpr std::array<HeldBack, 0> held_back = {};

inline bool is_held_back(std::string_view feature, HeldBack::How how) {
  for (const HeldBack& one : held_back)
    if (one.feature == feature && one.how == how) return true;
  return false;
}

}  // namespace tap::random
