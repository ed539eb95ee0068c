#include "backend/loops/may_fail.h"

namespace tap::backend {

bool operation_may_fail(ir::CellOp op, ElementType type, const ir::Scalar* second) {
  if (is_float(type)) return false;
  if (op == ir::CellOp::div || op == ir::CellOp::mod) return !second || second->i == 0;
  if (op == ir::CellOp::shl || op == ir::CellOp::shr)
    return !is_bool(type) && info(type).is_signed && (!second || second->i < 0);
  return false;
}

}  // namespace tap::backend
