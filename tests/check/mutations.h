// Every kind of change to what a step made and to what it claims, by subject.
#pragma once

#include "tests/check/harmless_mutations.h"
#include "tests/check/mutations_of_blocks.h"
#include "tests/check/mutations_of_claims.h"
#include "tests/check/mutations_of_graphs.h"
#include "tests/check/mutations_of_operators.h"

namespace tap::check::cases {

inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> list;
    for (auto changes : {operator_changes, block_changes, graph_changes, claim_changes, harmless_changes})
      for (const Kind& kind : changes()) list.push_back(kind);
    return list;
  }();
  return all;
}

}  // namespace tap::check::cases
