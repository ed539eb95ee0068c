// The forms of reductions that run in linear work.
#include "ir/interpret_linear.h"

#include <algorithm>

#include "ir/interpret_domain.h"
#include "ir/needed_cells.h"

namespace tap::ir::oracle {
namespace {

bool depends_on(const Operator& op, const std::vector<CellId>& roots, std::uint32_t dim) {
  for (CellId id : needed_cells(op, roots)) {
    const CellNode& node = op.exprs[id];
    if (node.op == CellOp::index && node.attribute == dim) return true;
    if (node.op != CellOp::read) continue;
    for (const AffineExpr& row : op.reads[node.attribute].projection.start.rows)
      if (row.coefficients[dim] != 0) return true;
  }
  return false;
}

std::vector<std::uint32_t> dims_of(const Operator& op, DimRole role) {
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == role) dims.push_back(d);
  return dims;
}

// The one constraint that ties both dims together, if there is just one and it is an inequality.
const Constraint* only_tie(const Operator& op, std::uint32_t a, std::uint32_t b) {
  const Constraint* tie = nullptr;
  for (const Constraint& c : op.constraints) {
    if (!mentions(c, a) || !mentions(c, b)) continue;
    if (tie || c.comparison == Comparison::equal_zero) return nullptr;
    tie = &c;
  }
  return tie;
}

}  // namespace

std::optional<Scan> find_scan(const Operator& op) {
  const ReduceBody* body = op.reduce();
  std::vector<std::uint32_t> reduced = dims_of(op, DimRole::reduction);
  if (!body || reduced.size() != 1) return std::nullopt;
  for (std::uint32_t dim : dims_of(op, DimRole::parallel)) {
    const Constraint* tie = only_tie(op, dim, reduced[0]);
    if (!tie || depends_on(op, body->operands, dim)) continue;
    // a·dim + b·k + … >= 0: a greater dim loosens the bound if a > 0; it bounds k from above if b < 0.
    return Scan{dim, reduced[0], tie->expr.coefficients[dim] > 0, tie->expr.coefficients[reduced[0]] < 0};
  }
  return std::nullopt;
}

namespace {

// In the order of evaluation, each once: a and (b and a) is a, b.
std::vector<CellId> conjuncts_of(const Operator& op, CellId condition) {
  std::vector<CellId> conjuncts, open{condition};
  std::vector<bool> seen(op.exprs.size());
  while (!open.empty()) {
    CellId id = open.back();
    open.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    const CellNode& node = op.exprs[id];
    if (node.op == CellOp::logical_and) open.insert(open.end(), node.args.rbegin(), node.args.rend());
    else conjuncts.push_back(id);
  }
  return conjuncts;
}

bool is_identity(const Operator& op, CellId cell, const Monoid& monoid, std::size_t component) {
  const CellNode& node = op.exprs[cell];
  return node.op == CellOp::constant && node.value == monoid.exprs[monoid.identity[component]].value;
}

// Where every operand is something else than the identity: the conjunction of `conjuncts`, or (`negated`) where the one
// conjunct does not hold.
struct Guard {
  std::vector<CellId> conjuncts;
  bool negated = false;
};

// if a and b then x else identity;  if e != v then identity else x
std::optional<Guard> common_guard(const Operator& op, const Monoid& monoid) {
  std::optional<CellId> condition;
  Guard guard;
  const std::vector<CellId>& operands = op.reduce()->operands;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const CellNode& node = op.exprs[operands[k]];
    if (node.op != CellOp::select) return std::nullopt;
    bool negated = !is_identity(op, node.args[2], monoid, k);
    if (negated && !is_identity(op, node.args[1], monoid, k)) return std::nullopt;
    if (condition && (*condition != node.args[0] || guard.negated != negated)) return std::nullopt;
    condition = node.args[0];
    guard.negated = negated;
  }
  if (!condition) return std::nullopt;
  if (guard.negated) {
    guard.conjuncts.push_back(*condition);
  } else {
    guard.conjuncts = conjuncts_of(op, *condition);
  }
  return guard;
}

// A side of the equality as an affine expression; casts to integer types that hold all of its values change nothing.
std::optional<AffineExpr> affine_side(const Operator& op, CellId side) {
  const CellNode& node = op.exprs[side];
  if (node.op != CellOp::cast || !is_integer(node.type)) return as_affine(op, side);
  auto inner = affine_side(op, node.args[0]);
  if (!inner) return std::nullopt;
  Range values = inner->bounds(op.box());
  bool fits = values.empty() || (least_integer(node.type) <= values.lo && values.hi - 1 <= greatest_integer(node.type));
  return fits ? inner : std::nullopt;
}

std::optional<Scatter::Target> target_of(const Operator& op, CellId value, CellId selector) {
  auto affine = affine_side(op, value);
  if (!affine) return std::nullopt;
  for (std::uint32_t dim : dims_of(op, DimRole::parallel)) {
    std::int64_t sign = affine->coefficients[dim];
    if ((sign == 1 || sign == -1) && !depends_on(op, {selector}, dim))
      return Scatter::Target{selector, *affine, dim, sign};
  }
  return std::nullopt;
}

// Selectors and conditions are evaluated before the targets' dims are known, and domains must not tie those to the reduction.
bool is_sound(const Operator& op, const Scatter& scatter) {
  for (std::size_t a = 0; a < scatter.targets.size(); ++a) {
    std::uint32_t dim = scatter.targets[a].dim;
    for (std::size_t b = 0; b < scatter.targets.size(); ++b) {
      const Scatter::Target& other = scatter.targets[b];
      if (a != b && (other.equals.coefficients[dim] != 0 || other.dim == dim)) return false;
      if (depends_on(op, {other.selector}, dim)) return false;
    }
    if (depends_on(op, scatter.conditions, dim)) return false;
    for (const Constraint& c : op.constraints)
      for (std::uint32_t r : dims_of(op, DimRole::reduction))
        if (mentions(c, dim) && mentions(c, r)) return false;
  }
  return !scatter.targets.empty();
}

}  // namespace

std::optional<Scatter> find_scatter(const Operator& op, const Monoid& monoid) {
  if (!op.reduce() || monoid.laws.identity == Law::broken) return std::nullopt;
  auto guard = common_guard(op, monoid);
  if (!guard) return std::nullopt;
  Scatter scatter;
  for (CellId id : guard->conjuncts) {
    const CellNode& node = op.exprs[id];
    std::optional<Scatter::Target> target;
    if (node.op == (guard->negated ? CellOp::not_equal : CellOp::equal) && is_integer(op.exprs[node.args[0]].type)) {
      target = target_of(op, node.args[1], node.args[0]);
      if (!target) target = target_of(op, node.args[0], node.args[1]);
    }
    if (target) {
      scatter.targets.push_back(*target);
    } else if (scatter.targets.empty() && !guard->negated) {
      scatter.conditions.push_back(id);
    } else {
      break;  // what stands behind the targets is asked by the operand itself
    }
  }
  if (!is_sound(op, scatter)) return std::nullopt;
  return scatter;
}

}  // namespace tap::ir::oracle
