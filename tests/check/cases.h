// Steps of every kind, made by hand or by the passes, that the checker must accept: what its tests change.
#pragma once

#include "tests/check/cases_of_blocks.h"
#include "tests/check/cases_of_graphs.h"
#include "tests/check/cases_of_regions.h"

namespace tap::check::cases {

inline std::vector<Case> all() {
  std::vector<Case> cases;
  for (auto make :
       {copied, equal, simplified, composed, composed_fills, inlined, unrolled, two_steps, grouped, blocked, partials,
        partials_of_a_kernel, walked, scan_forwards, scan_backwards, moved, moved_on_lists, staged, folded})
    cases.push_back(make());
  return cases;
}

}  // namespace tap::check::cases
