// Splits: an index dim of an operation cut into blocks. A parallel dim gives independent applications; a reduction dim
// gives partials and their combination, for any monoid.
#pragma once

#include "ir/block_graph.h"

namespace tap::passes {

struct SplitChoice {
  ir::GraphId graph;
  ir::OperationId operation;
  std::uint32_t dim = 0;
  std::vector<ir::Range> blocks;  // consecutive, together the dim's range
  ir::Placement placement = ir::Placement::threads;
};

// Whether the dim may be cut: a parallel dim that need not be kept whole; a reduction dim if its partials can be combined
// in order (it is the outermost reduction dim, or the monoid commutes).
bool can_split(const ir::Program& program, const ir::Operator& op, std::uint32_t dim);

// The program as applications, every operation cut as chosen (several dims of one operation may be). Pre: can_split holds
// for each choice, and no operation has two reduction dims cut.
ir::BlockProgram split(const ir::Program& program, const std::vector<SplitChoice>& choices);

}  // namespace tap::passes
