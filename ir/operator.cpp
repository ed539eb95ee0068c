#include "ir/operator.h"

#include <algorithm>
#include <set>

#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {

std::string to_string(const TensorType& type) {
  return std::string(name_of(type.element)) + tap::to_string(type.shape);
}

Box Operator::box() const {
  Box box;
  box.dims.reserve(dims.size());
  for (const IndexDim& dim : dims) box.dims.push_back(dim.range);
  return box;
}

std::vector<std::string> Operator::dim_names() const {
  std::vector<std::string> names;
  names.reserve(dims.size());
  for (const IndexDim& dim : dims) names.push_back(dim.name);
  return names;
}

Box narrowed(const Operator& op, Box box) {
  std::vector<bool> open(op.dims.size(), false);  // split by a block dim with several values here
  for (const Blocking& b : op.blockings) {
    Range number = box.dims[b.block_dim];
    if (number.size() != 1) open[b.dim] = true;
    if (open[b.dim]) continue;
    // Blocks are relative to the whole range (or the enclosing block), not to a part of it.
    Range within = op.dims[b.dim].range;
    for (const Blocking& outer : op.blockings) {
      if (&outer == &b) break;
      if (outer.dim == b.dim) within = outer.blocks.block(within, box.dims[outer.block_dim].lo);
    }
    Range& range = box.dims[b.dim];
    range = intersect(range, b.blocks.block(within, number.lo));
  }
  return box;
}

bool is_block_dim(const Operator& op, std::uint32_t dim) {
  return std::any_of(op.blockings.begin(), op.blockings.end(), [dim](const Blocking& b) { return b.block_dim == dim; });
}

namespace {

std::optional<AffineExpr> affine_of_node(const CellNode& node, std::size_t dims,
                                         const std::unordered_map<CellId, AffineExpr>& known) {
  if (node.type != ElementType::i64) return std::nullopt;
  std::vector<const AffineExpr*> args;
  for (CellId id : node.args) {
    auto it = known.find(id);
    if (it == known.end()) return std::nullopt;
    args.push_back(&it->second);
  }
  switch (node.op) {
    case CellOp::constant: return AffineExpr::constant(dims, node.value.i);
    case CellOp::index: return AffineExpr::variable(dims, node.attribute);
    case CellOp::neg: return scale(*args[0], -1);
    case CellOp::add: return *args[0] + *args[1];
    case CellOp::sub: return *args[0] - *args[1];
    case CellOp::mul:
      if (args[0]->is_constant()) return scale(*args[1], args[0]->offset);
      if (args[1]->is_constant()) return scale(*args[0], args[1]->offset);
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

// Cells wrap and affine expressions do not. Sums and scalings agree modulo 2^64, so the two are equal wherever the
// final value fits; its bounds show whether it does.
std::optional<AffineExpr> as_affine(const Operator& op, CellId cell) {
  try {
    std::unordered_map<CellId, AffineExpr> known;
    for (CellId id : reachable_from(op.exprs, {cell})) {
      auto expr = affine_of_node(op.exprs[id], op.dims.size(), known);
      if (!expr) return std::nullopt;
      known.emplace(id, std::move(*expr));
    }
    AffineExpr result = known.at(cell);
    result.bounds(op.box());
    return result;
  } catch (const Overflow&) { return std::nullopt; }
}

namespace {

// a < b  →  b - a - 1 >= 0;   a <= b  →  b - a >= 0;   a == b  →  b - a == 0;   and their negations, except a != b.
std::optional<Constraint> comparison_constraint(const Operator& op, const CellNode& node, bool negated) {
  bool equality = node.op == CellOp::equal || node.op == CellOp::not_equal;
  if (!equality && node.op != CellOp::less && node.op != CellOp::less_equal) return std::nullopt;
  if (equality && (node.op == CellOp::not_equal) != negated) return std::nullopt;
  auto a = as_affine(op, node.args[0]), b = as_affine(op, node.args[1]);
  if (!a || !b) return std::nullopt;
  try {
    if (equality) return Constraint{*b - *a, Comparison::equal_zero};
    Constraint c{negated ? *a - *b : *b - *a, Comparison::at_least_zero};
    if ((node.op == CellOp::less) != negated) c.expr.offset = checked::sub(c.expr.offset, 1);
    return c;
  } catch (const Overflow&) { return std::nullopt; }
}

}  // namespace

std::optional<std::vector<Constraint>> as_constraints(const Operator& op, CellId condition, bool negated) {
  std::vector<Constraint> result;
  std::vector<std::pair<CellId, bool>> open{{condition, negated}};
  std::set<std::pair<CellId, bool>> seen;  // a and a is a: a shared part counts once
  while (!open.empty()) {
    auto [id, inverse] = open.back();
    open.pop_back();
    if (!seen.emplace(id, inverse).second) continue;
    const CellNode& node = op.exprs[id];
    if (node.op == CellOp::constant && is_bool(node.type)) {
      bool holds = (node.value.i != 0) != inverse;
      if (!holds) result.push_back({AffineExpr::constant(op.dims.size(), -1), Comparison::at_least_zero});
    } else if (node.op == CellOp::logical_not) {
      open.push_back({node.args[0], !inverse});
    } else if (node.op == (inverse ? CellOp::logical_or : CellOp::logical_and)) {
      open.push_back({node.args[1], inverse});  // the left one is handled first
      open.push_back({node.args[0], inverse});
    } else {
      auto constraint = comparison_constraint(op, node, inverse);
      if (!constraint) return std::nullopt;
      result.push_back(std::move(*constraint));
    }
  }
  return result;
}

}  // namespace tap::ir
