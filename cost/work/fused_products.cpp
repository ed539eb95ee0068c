#include "cost/work/fused_products.h"

#include <algorithm>

namespace tap::cost {

using ir::CellId, ir::CellNode, ir::CellOp;

bool FusedProducts::is_sum(const CellNode& node) const {
  if (kernel_.exact_arithmetic || !is_float(node.type) || (node.op != CellOp::add && node.op != CellOp::sub))
    return false;
  return std::ranges::any_of(node.args, [&](CellId arg) { return kernel_.exprs[arg].op == CellOp::mul; });
}

bool FusedProducts::is_product(CellId id) {
  if (kernel_.exprs[id].op != CellOp::mul || kernel_.exact_arithmetic || !is_float(kernel_.exprs[id].type))
    return false;
  auto [known, fresh] = products_.try_emplace(id, false);
  if (fresh) known->second = is_in_a_sum(id);
  return known->second;
}

bool FusedProducts::is_in_a_sum(CellId product) const {
  for (std::size_t c = 0; c < kernel_.exprs.size(); ++c) {
    const CellNode& user = kernel_.exprs[CellId(c)];
    if ((user.op == CellOp::add || user.op == CellOp::sub) && std::ranges::count(user.args, product) > 0) return true;
  }
  return false;
}

}  // namespace tap::cost
