// Kinds of statements that the generator leaves out while the compiler is known to fail on them. Empty it is best: each line
// names what is wrong, and goes with the fix.
#pragma once

#include <string_view>

namespace tap::random {

struct HeldBack {
  std::string_view feature;
  enum How { altogether, under_shardings, native_groups } how;
  std::string_view why;
};
inline constexpr HeldBack held_back[] = {
    {"reduction of one point", HeldBack::altogether, "T1401: compose_maps and a bounded read"},
    {"comparison of neighbours", HeldBack::altogether,
     "T1401: compose_maps and two bounded reads, compared by > or >="},
    {"triangular writers", HeldBack::under_shardings, "T1401: what is copied is not there"},
    {"triangular product", HeldBack::under_shardings, "the same"},
};

inline bool is_held_back(std::string_view feature, HeldBack::How how) {
  for (const HeldBack& one : held_back)
    if (one.feature == feature && one.how == how) return true;
  return false;
}

}  // namespace tap::random
