#include "backend/lower/near_cells.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

// Farther cells are not near: positions of tiles are computed from these without a check.
constexpr std::int64_t most_step = std::int64_t{1} << 16, most_distance = std::int64_t{1} << 40;

std::int64_t step_of(const Access& access, std::size_t axis, std::size_t dim) {
  const AffineExpr& row = access.projection.start.rows[axis];
  return dim < row.coefficients.size() ? row.coefficients[dim] : 0;
}

NearCells cells_of(const Access& access, std::size_t axis, std::size_t dim, const Box& points) {
  AffineExpr rest = access.projection.start.rows[axis];
  if (dim < rest.coefficients.size()) rest.coefficients[dim] = 0;
  const Range starts = rest.bounds(points);
  return {static_cast<std::uint32_t>(axis), step_of(access, axis, dim), starts.lo,
          checked::add(starts.hi - 1, access.projection.shape[axis] - 1)};
}

// Of all accesses to one tensor.
std::optional<NearCells> common_to(const std::vector<const Access*>& accesses, std::size_t dim, const Box& points) {
  if (accesses.empty() || points.empty()) return std::nullopt;
  for (std::size_t axis = 0; axis < accesses.front()->projection.rank(); ++axis) {
    const std::int64_t step = step_of(*accesses.front(), axis, dim);
    auto follows = [&](const Access* one) {
      return step_of(*one, axis, dim) == step && (one->coordinates.empty() || !one->coordinates[axis]);
    };
    if (step <= 0 || !std::ranges::all_of(accesses, follows)) continue;
    NearCells all = cells_of(*accesses.front(), axis, dim, points);
    for (const Access* one : accesses) {
      const NearCells its = cells_of(*one, axis, dim, points);
      all.low = std::min(all.low, its.low);
      all.high = std::max(all.high, its.high);
    }
    if (step <= most_step && all.low >= -most_distance && all.high <= most_distance) return all;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::optional<NearCells>> near_cells(const Operator& op, std::size_t dim) {
  std::vector<std::optional<NearCells>> found;
  auto add = [&](const std::vector<Access>& accesses, std::size_t tensors) {
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
      std::vector<const Access*> its;
      for (const Access& one : accesses)
        if (one.tensor == tensor) its.push_back(&one);
      found.push_back(common_to(its, dim, op.box()));
    }
  };
  add(op.reads, op.operands.size());
  add(op.writes, op.results.size());
  return found;
}

}  // namespace tap::backend
