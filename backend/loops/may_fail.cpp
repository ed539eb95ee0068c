#include "backend/loops/may_fail.h"

#include <algorithm>

namespace tap::backend {

bool operation_may_fail(ir::CellOp op, ElementType type, const ir::Scalar* second) {
  if (is_float(type)) return false;
  if (op == ir::CellOp::div || op == ir::CellOp::mod) return !second || second->i == 0;
  if (op == ir::CellOp::shl || op == ir::CellOp::shr)
    return !is_bool(type) && info(type).is_signed && (!second || second->i < 0);
  return false;
}

bool cells_may_fail(const ir::CellExprs& exprs) {
  for (std::size_t c = 0; c < exprs.size(); ++c) {
    const ir::CellNode& node = exprs[ir::CellId(c)];
    if (node.args.size() < 2) continue;
    const ir::CellNode& second = exprs[node.args[1]];
    const ir::Scalar* constant = second.op == ir::CellOp::constant ? &second.value : nullptr;
    if (operation_may_fail(node.op, exprs[node.args[0]].type, constant)) return true;
  }
  return false;
}

bool kernel_may_fail(const Kernel& kernel) {
  for (const Load& load : kernel.loads)
    if (!load.fill && std::ranges::any_of(load.at, [](const Coordinate& one) { return one.checked; })) return true;
  return cells_may_fail(kernel.exprs);
}

}  // namespace tap::backend
