#include "passes/simplify/cell_facts.h"

#include <algorithm>
#include <unordered_set>

namespace tap::passes {

using namespace ir;

std::vector<CellId> roots_of(const Operator& op) {
  if (const MapBody* map = op.map()) return map->values;
  if (const ReduceBody* reduce = op.reduce()) return reduce->operands;
  return {};
}

namespace {

bool is_constant(const CellExprs& exprs, CellId cell, auto fulfils) {
  const CellNode& node = exprs[cell];
  return node.op == CellOp::constant && fulfils(node.value.i);
}

bool node_may_fail(const Operator& op, const CellNode& node) {
  switch (node.op) {
    case CellOp::div:
    case CellOp::mod:
      return is_integer(node.type) && !is_constant(op.exprs, node.args[1], [](std::int64_t n) { return n != 0; });
    case CellOp::shl:
    case CellOp::shr: return !is_constant(op.exprs, node.args[1], [](std::int64_t n) { return n >= 0; });
    case CellOp::read: {
      const Access& access = op.reads[node.attribute];
      auto by_data = [](const auto& coordinate) { return coordinate.has_value(); };
      return !access.fill && std::any_of(access.coordinates.begin(), access.coordinates.end(), by_data);
    }
    default: return false;
  }
}

}  // namespace

bool may_fail(const Operator& op, const std::vector<CellId>& roots) {
  std::vector<CellId> cells = needed_cells(op, roots);
  return std::any_of(cells.begin(), cells.end(), [&](CellId id) { return node_may_fail(op, op.exprs[id]); });
}

bool is_rounded(const CellExprs& exprs, CellId cell) {
  std::vector<CellId> open{cell};
  std::unordered_set<CellId> seen;
  while (!open.empty()) {
    CellId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const CellNode& node = exprs[id];
    if (!is_float(node.type) || node.type == ElementType::f64) continue;
    switch (node.op) {
      case CellOp::constant:
      case CellOp::read:
      case CellOp::cast: break;
      case CellOp::neg:
      case CellOp::abs:
      case CellOp::sign:
      case CellOp::floor:
      case CellOp::ceil:
      case CellOp::round:
      case CellOp::min:
      case CellOp::max: open.insert(open.end(), node.args.begin(), node.args.end()); break;
      case CellOp::select: open.insert(open.end(), node.args.begin() + 1, node.args.end()); break;
      default: return false;
    }
  }
  return true;
}

namespace {

std::int64_t flops_of(const CellNode& node) {
  switch (node.op) {
    case CellOp::constant:
    case CellOp::read:
    case CellOp::argument:
    case CellOp::reduce: return 0;
    case CellOp::div:
    case CellOp::mod:
    case CellOp::sqrt:
    case CellOp::rsqrt: return 4;
    default: break;
  }
  return info(node.op).kind == CellKind::function ? 16 : 1;
}

}  // namespace

CellCost cost_of(const Operator& op, const std::vector<CellId>& roots) {
  CellCost cost;
  for (CellId id : needed_cells(op, roots)) {
    const CellNode& node = op.exprs[id];
    cost.flops += flops_of(node);
    if (node.op != CellOp::read) continue;
    cost.reads += 1;
    // Whether the cell is in bounds is tested on each axis.
    if (op.reads[node.attribute].fill)
      cost.flops += 2 * static_cast<std::int64_t>(op.reads[node.attribute].projection.rank());
  }
  return cost;
}

}  // namespace tap::passes
