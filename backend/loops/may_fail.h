// Which scalar operations may stop a program: division, remainder and shifts of integers, by what they may meet.
#pragma once

#include "ir/cell.h"

namespace tap::backend {

// Whether evaluating the operation itself (not its arguments) may fail, given its second operand if that is a constant.
bool operation_may_fail(ir::CellOp op, ElementType type, const ir::Scalar* second);

}  // namespace tap::backend
