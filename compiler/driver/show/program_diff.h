// What changed between two programs: small before/after pairs of operations, for `tapc inspect --diff` and the panel Rewrite.
//
//   before  Y.linear[i, o] = b[o] + S[i, o]            after  Y[i, o] = max(f32(b[o] + S[i, o]), 0)
//           Y[i, o] = max(Y.linear[i, o], 0)
//
// Operations are matched by their names. Changed ones that share a value are one pair.
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::driver {

struct ListedOperation {
  std::string name;  // with its path
  std::string text;  // its equation; splits, shardings and bytes of moves in lines below
};
struct Change {
  std::vector<ListedOperation> before, after;  // in the order of the graphs; one of them may be empty
};

// Pairs beyond `most` have no texts, nor have operations beyond `most_of_side` of one side of a pair.
std::vector<Change> changes_between(const ir::Program& before, const ir::Program& after,
                                    std::size_t most = ~std::size_t{0}, std::size_t most_of_side = ~std::size_t{0});

// Each pair as lines that begin with - and +.
std::string diff_text(const std::vector<Change>& changes);

}  // namespace tap::driver
