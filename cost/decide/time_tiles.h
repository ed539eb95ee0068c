// Iterates whose steps may run several at a time: unrolled, the steps become a group whose tiles are in the cache while
// all of them run.
//
//   U = iterate 100 (V = U0) { … }     unroll U 2, or 4, 7, 10; `groups.h` fuses the steps of one body
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::cost {

struct UnrollChoice {
  std::string operation;            // as in a plan
  std::vector<std::int64_t> steps;  // few steps first
};

// The iterates of the main graph whose bodies are a few maps, and whose steps move more bytes than the caches hold: what
// time tiles save is traffic to memory. Those with names in `fixed` are skipped.
std::vector<UnrollChoice> unroll_choices(const ir::Program& program, const std::set<std::string>& fixed,
                                         double cached_bytes);

}  // namespace tap::cost
