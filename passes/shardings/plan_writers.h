// A value with several writers is split along its own blocks: the part of each writer that lies in a block is placed
// with that block. A writer outside a block has an empty block there.
//
//   Y[i] = A[i] for i in 0..4      Y over data = 4, of 10 cells:      split Y@0 dim i into [0, 3, 4, 4, 4] over pod.data
//   Y[4 + j] = B[j]                blocks of 3, 3, 3 and 1            split Y@1 dim j into [0, 0, 2, 5, 6] over pod.data
//   Y[0, j] = 0                    no dim indexes axis 0                place Y@2 at 0 over pod.data
#pragma once

#include "ir/plan.h"

namespace tap::passes {

// How an axis of a value is split, and where its blocks go.
struct AxisSplit {
  std::size_t axis = 0;
  ir::Blocks blocks;      // of the whole axis
  ir::PlannedSplit over;  // only its placement is used
};

struct WritersPlan {
  std::vector<ir::PlannedSplit> splits;
  std::string why_not;  // … if one of them cannot be split so; there are then no splits
};
// Uses the plan's names for the operations of the graph.
WritersPlan plan_of_writers(const ir::Program& program, const ir::Graph& graph, const std::vector<std::string>& names,
                            ir::ValueId value, const std::vector<AxisSplit>& axis_splits);

// The dim's name in a plan: its own, or its number if the name is not unique.
std::string plan_dim_name(const ir::Operator& op, std::uint32_t dim);

}  // namespace tap::passes
