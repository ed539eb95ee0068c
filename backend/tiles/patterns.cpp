#include "backend/tiles/patterns.h"

#include <algorithm>
#include <cstdlib>

#include "ir/graph.h"

namespace tap::backend {
namespace {

using namespace ir;

bool is_bounded(const Operator& op, std::uint32_t dim, std::optional<std::size_t> except = {}) {
  for (std::size_t c = 0; c < op.constraints.size(); ++c)
    if (c != except && op.constraints[c].expr.coefficients[dim] != 0) return true;
  return false;
}

// Its cells must be distinct per point and hold the accumulator's type.
bool accumulates_in_place(const Operator& op, const Monoid& monoid) {
  for (std::size_t k = 0; k < op.writes.size(); ++k) {
    if (!op.writes[k].invariant_dims.empty()) return false;
    if (op.results[op.writes[k].tensor].element != monoid.components[k].type) return false;
  }
  return true;
}

}  // namespace

std::optional<Scan> native_scan(const Operator& op) {
  for (const Scan& scan : scans_of(op)) {
    const AffineExpr& tie = op.constraints[scan.constraint].expr;
    if (std::abs(tie.coefficients[scan.reduced]) == 1 && scan.ascending == scan.at_the_right &&
        !is_bounded(op, scan.along, scan.constraint))
      return scan;
  }
  return std::nullopt;
}

std::optional<Scatter> native_scatter(const Program& program, const Operator& op) {
  if (!op.reduce() || !accumulates_in_place(op, program[op.reduce()->monoid])) return std::nullopt;
  auto scatter = find_scatter(op, program[op.reduce()->monoid]);
  if (scatter && std::any_of(scatter->targets.begin(), scatter->targets.end(),
                             [&](const Scatter::Target& target) { return is_bounded(op, target.dim); }))
    return std::nullopt;
  return scatter;
}

std::vector<std::size_t> free_dims(const Program& program, const Operator& op) {
  std::vector<bool> bound(op.dims.size(), false);
  for (const Access& write : op.writes)
    for (std::uint32_t d : write.invariant_dims) bound[d] = true;
  if (auto scan = native_scan(op)) bound[scan->along] = true;
  if (auto scatter = native_scatter(program, op))
    for (const auto& target : scatter->targets) bound[target.dim] = true;
  std::vector<std::size_t> result;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::parallel && !op.dims[d].keep && !bound[d]) result.push_back(d);
  return result;
}

bool may_be_outside(const Operator& op, const Access& access) {
  const auto& rows = access.projection.start.rows;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    if (axis < access.coordinates.size() && access.coordinates[axis]) return true;
    if (!Range{0, op.operands[access.tensor].shape[axis]}.contains(rows[axis].bounds(op.box()))) return true;
  }
  return false;
}

bool is_contiguous_along(const std::vector<AffineExpr>& at, std::size_t variable) {
  auto follows = [&](const AffineExpr& e) { return e.coefficients[variable] != 0; };
  return !at.empty() && at.back().coefficients[variable] == 1 && std::ranges::count_if(at, follows) == 1;
}

}  // namespace tap::backend
