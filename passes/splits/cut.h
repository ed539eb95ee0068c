// Cutting one dim of one operator into blocks.
//
//   y[i] = f(x[i])            cut over i   is the same with one more dim: y[i] = f(x[i]) for i in block r
//   y[i] = sum[k] x[i, k]     cut over k   is p[r, i] = sum[k in block r] x[i, k]   and   y[i] = sum[r] p[r, i]
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

// Why the dim may not be cut, in a sentence; empty if it may. A dim that needs its values whole, a counter and what must be
// kept may not; a reduction dim only where its partials can be combined in order: it is the outermost one, or the monoid
// commutes. `walked`: only to be walked block after block, in order, which is legal for every reduction dim.
std::string why_not_cut(const ir::Program& program, const ir::Operator& op, std::uint32_t dim, bool walked);

// What an operator reduces by: a reduction, or an outside kernel with reduced dims; null for all others.
const ir::MonoidId* monoid_of(const ir::Operator& op);

// Whether the graph is that of a group, which is cut as one operation: nothing inside of it is cut for itself.
bool is_inside_of_a_group(const ir::Program& program, ir::GraphId graph);

// The operator with one more dim, last, that numbers the blocks of `dim`: parallel, or (walked) a reduction dim.
ir::Operator cut_dim(const ir::Operator& op, std::uint32_t dim, const ir::Blocks& blocks, bool walked);

struct CutReduction {
  ir::Operator partial;      // with one more parallel dim, last: the block's number, the first axis of every result …
                             // … of a reduction, and the last one of an outside kernel's
  ir::Operator combination;  // its dims: the parallel ones in order, then the block's number, reduced
  std::vector<std::uint32_t>
      dim_in_combination;  // by dim of the operator; only parallel ones are asked; empty: none is there
};
// Pre: a reduction. Partials have the monoid's component types, so nothing is rounded between the blocks.
CutReduction cut_reduction(const ir::Program& program, const ir::Operator& op, std::uint32_t dim,
                           const ir::Blocks& blocks);

// The same of an outside kernel (cut_kernel.cpp), and why it has no partials; empty if it has.
CutReduction cut_kernel(const ir::Program& program, const ir::Operator& op, std::uint32_t dim,
                        const ir::Blocks& blocks);
std::string why_no_partials(const ir::Operator& kernel);

}  // namespace tap::passes
