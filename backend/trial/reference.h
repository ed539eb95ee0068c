// The reference result of an operator on one box, which kernels are compared with (self_check.h). It shares no code
// with lowering: the interpreter (ir/interpret/interpret_operation.h) evaluates the operator point by point, and a
// group operation by operation. Only the parts of tensors that the box touches exist, so a box of 4 x 4 costs the
// same in a tensor of any size.
//
//   y[i, o] = sum[k] x[i, k] * w[k, o]     on i 0..2, k 0..3, o 64..66     x on [0..2, 0..3], w on [0..3, 64..66] give y on [0..2, 64..66]
#pragma once

#include <vector>

#include "ir/graph_ids.h"
#include "ir/interpret/interpret_cell.h"
#include "ir/operator.h"

namespace tap::backend {

// The cells of a tensor in a box, row-major. A bound below 0: the cell is not written.
struct TensorPart {
  ElementType element = ElementType::f32;
  ir::Box box;
  ir::oracle::Datum cells;
};
TensorPart blank_part(ElementType element, ir::Box box);  // without written cells

// The parts of tensors that the operator reads and writes on the box. A group may compute more of `results` than the
// box needs, for inner use; `own` has the boxes that it writes regardless of tiles. Pre: it is a map, a reduction or a
// group.
struct TouchedParts {
  std::vector<ir::Box> operands, results, own;
};
TouchedParts touched_parts(const ir::Program& program, const ir::Operator& op, const ir::Box& box);

// About how many points are evaluated for the box; for a group, the sum over its inner operations.
double points_of(const ir::Program& program, const ir::Operator& op, const ir::Box& box);

// Writes the results' cells, with bounds on how far native code may differ (ir/interpret/interpret_bounds.h). The
// operands must have at least the touched parts. Counters are at the start of their ranges. Throws ir::EvaluationError
// if the operator fails.
void evaluate_reference(const ir::Program& program, const ir::Operator& op, const ir::Box& box,
                        const std::vector<const TensorPart*>& operands, const std::vector<TensorPart*>& results);

}  // namespace tap::backend
