// Splits one dim of one operator into blocks.
//
//   y[i] = f(x[i])            split over i  is the same with one more dim: y[i] = f(x[i]) for i in block r
//   y[i] = sum[k] x[i, k]     split over k  is p[r, i] = sum[k in block r] x[i, k]   and   y[i] = sum[r] p[r, i]
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

// Why the dim may not be split, in a sentence; empty if it may. Not splittable: a dim that needs its values whole, a
// counter, and `keep` dims. A reduction dim needs partials that can be combined in order: it is the outermost one, or
// the monoid commutes. `streamed`: processed block after block, in order, which is legal for every reduction dim.
std::string why_not_split(const ir::Program& program, const ir::Operator& op, std::uint32_t dim, bool streamed);

// The monoid of a reduction or of an outside kernel with reduced dims; null for all others.
const ir::MonoidId* monoid_of(const ir::Operator& op);

// Whether the graph is the body of a group. A group is split as one operation, so operations inside are not split.
bool is_inside_of_a_group(const ir::Program& program, ir::GraphId graph);

// The operator with an additional last dim that numbers the blocks of `dim`: parallel, or (`streamed`) a reduction dim.
ir::Operator split_dim(const ir::Operator& op, std::uint32_t dim, const ir::Blocks& blocks, bool streamed);

struct SplitReduction {
  ir::Operator partial;      // one more parallel dim, last: the block, which is the first axis of every result …
                             // … of a reduction, and the last of an outside kernel's
  ir::Operator combination;  // its dims: the parallel ones in order, then the block's number, reduced
  std::vector<std::uint32_t> dim_in_combination;  // by dim of the operator, for parallel ones; empty: not present
};
// Pre: a reduction. Partials have the monoid's component types, so nothing is rounded between blocks.
SplitReduction split_reduction(const ir::Program& program, const ir::Operator& op, std::uint32_t dim,
                               const ir::Blocks& blocks);

// The same for an outside kernel (split_kernel.cpp); and why it has no partials, or empty.
SplitReduction split_kernel(const ir::Program& program, const ir::Operator& op, std::uint32_t dim,
                            const ir::Blocks& blocks);
std::string why_no_partials(const ir::Operator& kernel);

}  // namespace tap::passes
