#include "backend/patterns.h"

#include <algorithm>

namespace tap::backend {
namespace {

using namespace ir;

bool projection_depends_on(const Projection& projection, std::size_t dim) {
  return std::any_of(projection.start.rows.begin(), projection.start.rows.end(),
                     [&](const AffineExpr& row) { return row.coefficients[dim] != 0; });
}

bool depends(const Operator& op, CellId cell, std::size_t dim, std::vector<signed char>& known) {
  if (known[cell.index()] >= 0) return known[cell.index()] == 1;
  const CellNode& node = op.exprs[cell];
  bool result = false;
  if (node.op == CellOp::index) result = node.attribute == dim;
  for (CellId arg : node.args) result = result || depends(op, arg, dim, known);
  if (node.op == CellOp::read) {
    const Access& access = op.reads[node.attribute];
    result = projection_depends_on(access.projection, dim);
    for (const auto& c : access.coordinates) result = result || (c && depends(op, *c, dim, known));
    result = result || (access.fill && depends(op, *access.fill, dim, known));
  }
  known[cell.index()] = result;
  return result;
}

bool constrained(const Operator& op, std::size_t dim, std::size_t except) {
  for (std::size_t c = 0; c < op.constraints.size(); ++c)
    if (c != except && op.constraints[c].expr.coefficients[dim] != 0) return true;
  return false;
}

constexpr std::size_t no_exception = static_cast<std::size_t>(-1);

// The constraint a*i - k + … >= 0 (an upper bound of k that grows with i) or k - a*i + … >= 0, with no other reduction dim.
std::optional<Scan> scan_of_constraint(const Operator& op, std::size_t c, std::size_t reduced, bool only_reduction) {
  const Constraint& constraint = op.constraints[c];
  const auto& coefficients = constraint.expr.coefficients;
  if (constraint.comparison != Comparison::at_least_zero || std::abs(coefficients[reduced]) != 1) return {};
  bool descending = coefficients[reduced] > 0;
  if (descending && !only_reduction) return {};
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (d != reduced && coefficients[d] != 0 && op.dims[d].role == DimRole::reduction) return {};
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role != DimRole::parallel || coefficients[d] == 0) continue;
    if ((coefficients[d] > 0) == descending || constrained(op, d, c)) continue;
    const auto& operands = op.reduce()->operands;
    if (std::any_of(operands.begin(), operands.end(), [&](CellId x) { return depends_on(op, x, d); })) continue;
    return Scan{d, reduced, c, descending};
  }
  return {};
}

void conjuncts(const Operator& op, CellId cell, std::vector<CellId>& out) {
  const CellNode& node = op.exprs[cell];
  if (node.op != CellOp::logical_and) return out.push_back(cell);
  conjuncts(op, node.args[0], out);
  conjuncts(op, node.args[1], out);
}

// e == v, where v is a parallel dim that nothing else constrains and e does not depend on it.
std::optional<Scatter::Target> target_of(const Operator& op, CellId condition) {
  const CellNode& node = op.exprs[condition];
  if (node.op != CellOp::equal) return {};
  for (int side = 0; side < 2; ++side) {
    const CellNode& v = op.exprs[node.args[side]];
    CellId e = node.args[1 - side];
    if (v.op != CellOp::index || op.dims[v.attribute].role != DimRole::parallel) continue;
    if (op.exprs[e].type != ElementType::i64 || depends_on(op, e, v.attribute)) continue;
    if (!constrained(op, v.attribute, no_exception)) return Scatter::Target{v.attribute, e};
  }
  return {};
}

bool is_identity(const Operator& op, CellId cell, const Monoid& monoid, std::size_t component) {
  const CellNode& node = op.exprs[cell];
  const CellNode& identity = monoid.exprs[monoid.identity[component]];
  return node.op == CellOp::constant && identity.op == CellOp::constant && node.value == identity.value;
}

// The common condition of all operands `if condition then x else identity`, if they have that form.
std::optional<CellId> common_condition(const Operator& op, const Monoid& monoid, std::vector<CellId>& chosen) {
  std::optional<CellId> condition;
  const auto& operands = op.reduce()->operands;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const CellNode& node = op.exprs[operands[k]];
    if (node.op != CellOp::select || !is_identity(op, node.args[2], monoid, k)) return {};
    if (condition && *condition != node.args[0]) return {};
    condition = node.args[0];
    chosen.push_back(node.args[1]);
  }
  return condition;
}

// A scatter accumulates in the result itself: its cells must be distinct per point and hold the accumulator's type.
bool accumulates_in_place(const Operator& op, const Monoid& monoid) {
  for (std::size_t k = 0; k < op.writes.size(); ++k) {
    if (!op.writes[k].invariant_dims.empty()) return false;
    if (op.results[op.writes[k].tensor].element != monoid.components[k].type) return false;
  }
  return true;
}

}  // namespace

bool depends_on(const Operator& op, CellId cell, std::size_t dim) {
  std::vector<signed char> known(op.exprs.size(), -1);
  return depends(op, cell, dim, known);
}

std::optional<Scan> find_scan(const Operator& op) {
  if (!op.reduce()) return {};
  std::vector<std::size_t> reductions;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction) reductions.push_back(d);
  if (reductions.empty()) return {};
  // Only the outermost reduction dim: the order of combination must stay lexicographic.
  for (std::size_t c = 0; c < op.constraints.size(); ++c)
    if (auto scan = scan_of_constraint(op, c, reductions.front(), reductions.size() == 1)) return scan;
  return {};
}

std::optional<Scatter> find_scatter(const Program& program, const Operator& op) {
  if (!op.reduce()) return {};
  const Monoid& monoid = program[op.reduce()->monoid];
  if (!accumulates_in_place(op, monoid)) return {};
  Scatter scatter;
  auto condition = common_condition(op, monoid, scatter.operands);
  if (!condition) return {};
  std::vector<CellId> parts;
  conjuncts(op, *condition, parts);
  for (CellId part : parts) {
    auto target = scatter.conditions.empty() ? target_of(op, part) : std::nullopt;
    if (target && std::any_of(scatter.targets.begin(), scatter.targets.end(), [&](const Scatter::Target& earlier) {
          return earlier.dim == target->dim || depends_on(op, target->value, earlier.dim);
        }))
      target.reset();
    if (target) {
      scatter.targets.push_back(*target);
    } else {
      scatter.conditions.push_back(part);
    }
  }
  if (scatter.targets.empty()) return {};
  return scatter;
}

std::vector<std::size_t> free_dims(const Program& program, const Operator& op) {
  std::vector<bool> bound(op.dims.size(), false);
  for (const Access& write : op.writes)
    for (std::uint32_t d : write.invariant_dims) bound[d] = true;
  if (auto scan = find_scan(op)) bound[scan->dim] = true;
  if (auto scatter = find_scatter(program, op))
    for (const auto& target : scatter->targets) bound[target.dim] = true;
  std::vector<std::size_t> result;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::parallel && !op.dims[d].keep && !bound[d]) result.push_back(d);
  return result;
}

}  // namespace tap::backend
