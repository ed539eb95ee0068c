#include "ir/interpret/linear_reductions.h"

#include <algorithm>

#include "ir/graphs/needed_cells.h"

namespace tap::ir {
namespace {

std::vector<std::uint32_t> dims_of(const Operator& op, DimRole role) {
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == role) dims.push_back(d);
  return dims;
}

bool constrains(const Constraint& constraint, std::uint32_t dim) { return constraint.expr.coefficients[dim] != 0; }

bool constrains_any(const Constraint& constraint, const std::vector<std::uint32_t>& dims) {
  return std::any_of(dims.begin(), dims.end(), [&](std::uint32_t d) { return constrains(constraint, d); });
}

// The constraint that relates the dim to reduction dims, if there is just one, it is an inequality, and it is on the
// outermost of these.
std::optional<std::size_t> only_tie(const Operator& op, std::uint32_t dim, const std::vector<std::uint32_t>& reduced) {
  std::optional<std::size_t> tie;
  for (std::size_t c = 0; c < op.constraints.size(); ++c) {
    const Constraint& constraint = op.constraints[c];
    if (!constrains(constraint, dim) || !constrains_any(constraint, reduced)) continue;
    if (tie || constraint.comparison == Comparison::equal_zero) return std::nullopt;
    if (constrains_any(constraint, {reduced.begin() + 1, reduced.end()})) return std::nullopt;
    tie = c;
  }
  return tie;
}

}  // namespace

bool depends_on(const Operator& op, const std::vector<CellId>& cells, std::size_t dim) {
  for (CellId id : needed_cells(op, cells)) {
    const CellNode& node = op.exprs[id];
    if (node.op == CellOp::index && node.attribute == dim) return true;
    if (node.op != CellOp::read) continue;
    for (const AffineExpr& row : op.reads[node.attribute].projection.start.rows)
      if (row.coefficients[dim] != 0) return true;
  }
  return false;
}

std::vector<Scan> scans_of(const Operator& op) {
  const ReduceBody* body = op.reduce();
  std::vector<std::uint32_t> reduced = dims_of(op, DimRole::reduction);
  std::vector<Scan> scans;
  if (!body || reduced.empty()) return scans;
  for (std::uint32_t dim : dims_of(op, DimRole::parallel)) {
    auto tie = only_tie(op, dim, reduced);
    if (!tie) continue;
    // a·dim + b·k + … >= 0: a greater dim loosens the bound if a > 0; it is an upper bound of k if b < 0.
    const auto& coefficients = op.constraints[*tie].expr.coefficients;
    bool at_the_right = coefficients[reduced[0]] < 0;
    if ((reduced.size() > 1 && !at_the_right) || depends_on(op, body->operands, dim)) continue;
    scans.push_back({dim, reduced[0], *tie, coefficients[dim] > 0, at_the_right});
  }
  return scans;
}

std::optional<Scan> find_scan(const Operator& op) {
  if (dims_of(op, DimRole::reduction).size() != 1) return std::nullopt;
  std::vector<Scan> scans = scans_of(op);
  return scans.empty() ? std::nullopt : std::optional(scans.front());
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
  const CellNode& identity = monoid.exprs[monoid.identity[component]];
  return node.op == CellOp::constant && identity.op == CellOp::constant && node.value == identity.value;
}

// Where every operand may differ from the identity: where all `conjuncts` hold, or (`negated`) where the one conjunct
// does not. The operands there are the `terms`.
struct Guard {
  std::vector<CellId> conjuncts;
  bool negated = false;
  std::vector<CellId> terms;
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
    guard.terms.push_back(node.args[negated ? 2 : 1]);
  }
  if (!condition) return std::nullopt;
  if (guard.negated) {
    guard.conjuncts.push_back(*condition);
  } else {
    guard.conjuncts = conjuncts_of(op, *condition);
  }
  return guard;
}

// A side of the equality as an affine expression; ignores casts to integer types that contain all of its values.
std::optional<AffineExpr> affine_side(const Operator& op, CellId side) {
  const CellNode& node = op.exprs[side];
  if (node.op != CellOp::cast || !is_integer(node.type)) return as_affine(op, side);
  auto inner = affine_side(op, node.args[0]);
  if (!inner) return std::nullopt;
  Range values = inner->bounds(op.box());
  bool fits = values.empty() || (least_integer(node.type) <= values.lo && values.hi - 1 <= greatest_integer(node.type));
  return fits ? inner : std::nullopt;
}

// Selectors and conditions are evaluated before the targets' dims are known, and the domain must not relate those to
// the reduction.
bool is_sound(const Operator& op, const Scatter& scatter, const Scatter::Target& target) {
  if (depends_on(op, {target.selector}, target.dim) || depends_on(op, scatter.conditions, target.dim)) return false;
  for (const Scatter::Target& earlier : scatter.targets) {
    if (earlier.equals.coefficients[target.dim] != 0 || target.equals.coefficients[earlier.dim] != 0) return false;
    if (depends_on(op, {earlier.selector}, target.dim) || depends_on(op, {target.selector}, earlier.dim)) return false;
  }
  std::vector<std::uint32_t> reduced = dims_of(op, DimRole::reduction);
  return std::none_of(op.constraints.begin(), op.constraints.end(),
                      [&](const Constraint& c) { return constrains(c, target.dim) && constrains_any(c, reduced); });
}

std::optional<Scatter::Target> target_of(const Operator& op, const Scatter& scatter, CellId value, CellId selector) {
  auto affine = affine_side(op, value);
  if (!affine) return std::nullopt;
  for (std::uint32_t dim : dims_of(op, DimRole::parallel)) {
    std::int64_t sign = affine->coefficients[dim];
    Scatter::Target target{selector, *affine, dim, sign};
    if ((sign == 1 || sign == -1) && is_sound(op, scatter, target)) return target;
  }
  return std::nullopt;
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
    if (scatter.later.empty() && node.op == (guard->negated ? CellOp::not_equal : CellOp::equal) &&
        is_integer(op.exprs[node.args[0]].type)) {
      target = target_of(op, scatter, node.args[1], node.args[0]);
      if (!target) target = target_of(op, scatter, node.args[0], node.args[1]);
    }
    if (target) scatter.targets.push_back(*target);
    else (scatter.targets.empty() ? scatter.conditions : scatter.later).push_back(id);
  }
  if (scatter.targets.empty()) return std::nullopt;
  scatter.terms = std::move(guard->terms);
  return scatter;
}

}  // namespace tap::ir
