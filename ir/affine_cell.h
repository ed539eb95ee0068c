// An affine expression as cells: the inverse of as_affine (operator.h).
#pragma once

#include "ir/affine.h"
#include "ir/cell.h"

namespace tap::ir {

// 2*i - j + 3 as cells of type i64.
CellId affine_cell(CellExprs& exprs, const AffineExpr& e);

}  // namespace tap::ir
