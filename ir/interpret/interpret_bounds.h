// Running error analysis: how far a computation in narrow floats may differ from the oracle's f64.
//
// Let x be the oracle's value of a cell and x' that of any other evaluation of the same program: at each node's own type
// or wider, fused, vectorised, with a library's functions, reductions in another order. Then |x' - x| <= error. Each rule
// below propagates the errors of the operands by the largest slope over their intervals and adds the rounding of the
// node itself: the unit roundoff of the type it computes in (f32 for f16 and bf16), that of the oracle's own f64, and the
// smallest normal number of the type, for underflow, flushed or gradual. Where no bound is known, the error is infinite.
#pragma once

#include "ir/interpret/interpret_cell.h"

namespace tap::ir::oracle {

double unit_roundoff(ElementType type);  // of the type it computes in, plus the oracle's own
double smallest_normal(ElementType compute_type);

// The rule of a strict operation with the given operands and result.
double error_of(CellOp op, ElementType operand_type, Cell a, Cell b, Number result);
double error_of_cast(ElementType from, ElementType to, Cell a, Number result);
// Rounding to the value's own type when it is written, which the oracle does too.
double error_after_rounding(ElementType type, Cell cell);
// |a - b|, 0 if they are equal (infinities and NaN too), infinite if just one is not finite.
double distance(ElementType type, Number a, Number b);

}  // namespace tap::ir::oracle
