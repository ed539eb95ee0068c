// Reductions that may be computed by their fold, in blocks of several sizes: without a line in the plan they are folded
// in one block, which stores the matrix of all terms; in blocks, that matrix can be streamed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::cost {

// Whether a plan mentions the choice, or an operation of its alternatives.
bool speaks_of(const std::set<std::string>& fixed, const std::string& name);

struct FoldChoice {
  std::vector<std::string> names;           // of equal choices, as in a plan
  std::vector<std::uint32_t> alternatives;  // folds in blocks, large blocks first
};

// Pre: choices have been offered (passes/rewrites/offer_choices.h), and none is picked. Choices that a plan mentions,
// with names in `fixed`, are skipped.
std::vector<FoldChoice> fold_choices(const ir::Program& program, const std::set<std::string>& fixed);

}  // namespace tap::cost
