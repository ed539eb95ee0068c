// Dims that pass through memory together become one dim, so that tiles run across both:
//
//   y[n, c, h, w] = x[n, c, h, w] * a[c]     over n, c, h, w in 64, 256, 7, 7     becomes
//   y[n, c, 0, m] = x[n, c, 0, m] * a[c]     over n, c, m    in 64, 256, 49
//
// Tensors keep their rank, and thus the strides of their axes: the outer one of two merged axes has extent 1, the inner one
// the product. What is merged depends on the operator alone, since the lanes of a reduction may run along a merged dim.
#pragma once

#include <optional>

#include "backend/lower/lowering.h"
#include "ir/graph.h"

namespace tap::backend {

struct MergedOperator {
  ir::Program program;  // monoids and, for a group, its operations
  ir::Operator op;
  // By dim, the original dims, outermost first.
  std::vector<std::vector<std::uint32_t>> dims;
  // By operation of the group (or the operator alone), likewise.
  std::vector<std::vector<std::vector<std::uint32_t>>> inner_dims;
};
// Merges dims of a map, a reduction or a group of those. Nothing if there is nothing to merge, or cells may fail: a failure is
// reported at a point of the original dims. `extents`: of the operator's boxes. `constant`: operands that may be prepared,
// which are left as they are; empty: none. `through_windows`: also rows that windows move along, x[i + u, j] along i and j.
std::optional<MergedOperator> merge_dims(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                                         const std::vector<bool>& constant, bool through_windows = false);

// The merged operator's variables in a kernel over the original dims, and the statements that define them. A box must be
// contiguous in each merged dim.
OperatorInKernel merged_frame(const MergedOperator& merged, const ir::Operator& op, Kernel& kernel,
                              const OperatorInKernel& frame, std::vector<Statement>& definitions);

// From the merged operator's dims to the original ones: the dim along which calls split the kernel, what its loops assume
// about boxes, and prepared operands.
// Parts have whole register tiles, as loops over an exact extent need; false if too few parts can be made of them.
enum class SplitAt : std::uint8_t { whole_tiles, any_tile };
bool split_original_dim(Kernel& kernel, const MergedOperator& merged, const ir::Operator& op, SplitAt at);
std::vector<BoxStep> steps_of_original_dims(const std::vector<BoxStep>& steps, const MergedOperator& merged,
                                            const ir::Operator& op);
void over_original_dims(std::vector<PreparedOperand>& prepared, const MergedOperator& merged);

}  // namespace tap::backend
