// Which scalar operations may stop a program: integer division, remainder and shifts, depending on the range of their
// operands; and which kernels.
#pragma once

#include "backend/loops/loops.h"
#include "ir/cell.h"

namespace tap::backend {

// Whether the operation itself (not its arguments) may fail, given its second operand if that is a constant.
bool operation_may_fail(ir::CellOp op, ElementType type, const ir::Scalar* second);
// Whether any of them may.
bool cells_may_fail(const ir::CellExprs& exprs);
// Or a read outside a tensor.
bool kernel_may_fail(const Kernel& kernel);

}  // namespace tap::backend
