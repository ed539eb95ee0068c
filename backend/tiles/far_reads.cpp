// What it costs to read what is not in the first cache: because a panel or an operand is too large to stay there until it is used
// again, or because it is used once.
#include <algorithm>
#include <cmath>

#include "backend/tiles/point_work.h"
#include "support/tensor.h"

namespace tap::backend {

using namespace ir;

// A panel that is too large for half of the first cache comes from the second for each register tile; its lines are
// consecutive, so half of the time to load them is hidden, and a vector of few lanes is a part of one. Tiles of many rows need
// fewer of them: six rows of 16 lanes run convolutions on AVX2 1.4 times as fast as two rows of 32.
double PointWork::panel_cost(CellId id, const Access& access, const Tile& tile) const {
  constexpr double near_bytes = reference_machine.l1_bytes / 2.0;
  double bytes = static_cast<double>(tile.lanes) * tile.vectors * static_cast<double>(size_of(op_.exprs[id].type));
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (op_.dims[d].role == DimRole::reduction && uses(access, d)) bytes *= static_cast<double>(extents_.sizes[d]);
  const double line = std::min(static_cast<double>(tile.lanes) * bytes_ / reference_machine.line_bytes, 1.0);
  return bytes > near_bytes ? line * reference_machine.line_cycles / 2.0 / registers_of(tile.lanes) : 0;
}

double PointWork::far_memory_cost(CellId id, const Access& access, const Tile& tile) const {
  constexpr double near_bytes = reference_machine.l1_bytes * 3 / 4, most_steps = 512;
  if (!monoid_) return 0;
  const double far = static_cast<double>(reference_machine.line_cycles) / registers_of(tile.lanes);
  const bool follows_rows = tile.rows && follows(id, *tile.rows);
  if (follows_rows && is_read_again(access, tile) && footprint(access, op_.operands[access.tensor]) > near_bytes)
    return far;
  if (op_.dims[tile.dim].role == DimRole::reduction && bytes_between_reads(access, tile) > near_bytes) return far;
  double steps = follows_rows ? tile.row_count : 1;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    for (const AffineExpr& row : access.projection.start.rows)
      if (op_.dims[d].role == DimRole::reduction && row.coefficients[d] != 0)
        steps *= d == tile.dim ? std::ceil(static_cast<double>(extents_.sizes[d]) / (tile.lanes * tile.vectors))
                               : static_cast<double>(extents_.sizes[d]);
  // What is read once is as far for one vector as for several.
  const bool once = op_.dims[tile.dim].role != DimRole::reduction && is_read_once(access, tile);
  const double vectors = once ? 1 : tile.vectors;
  const double bytes = std::min(steps, most_steps) * tile.lanes * vectors * this->bytes();
  return bytes > near_bytes ? far : 0;
}

// Whether all points of a dim outside the tile read the same cells.
bool PointWork::is_read_again(const Access& access, const Tile& tile) const {
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (d != tile.dim && d != tile.rows && op_.dims[d].role == DimRole::parallel && extents_.sizes[d] > 1 &&
        !uses(access, d))
      return true;
  return false;
}

// Whether no two points, and no rows, read the same cell.
bool PointWork::is_read_once(const Access& access, const Tile& tile) const {
  const TensorType& type = op_.operands[access.tensor];
  const auto cells = static_cast<double>(element_count(type.shape)) * static_cast<double>(size_of(type.element));
  return (!tile.rows || uses(access, *tile.rows)) && !is_read_again(access, tile) && footprint(access, type) <= cells;
}

// What is read of the operand until the same cells are read again; 0 if they are not. Loops are as declared, then the one over
// groups of rows.
double PointWork::bytes_between_reads(const Access& access, const Tile& tile) const {
  double bytes = 0;
  double inside = static_cast<double>(size_of(op_.operands[access.tensor].element));
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (op_.dims[d].role == DimRole::reduction && uses(access, d)) inside *= static_cast<double>(extents_.sizes[d]);
  auto enclose = [&](std::size_t d) {
    if (uses(access, d)) inside *= static_cast<double>(extents_.sizes[d]);
    else bytes = inside;
  };
  if (tile.rows && extents_.sizes[*tile.rows] > tile.row_count) enclose(*tile.rows);
  for (std::size_t d = op_.dims.size(); d-- > 0;)
    if (op_.dims[d].role != DimRole::reduction && d != tile.rows && extents_.sizes[d] > 1) enclose(d);
  return bytes;
}

double PointWork::footprint(const Access& access, const TensorType& type) const {
  double all = static_cast<double>(size_of(type.element));
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (uses(access, d)) all *= static_cast<double>(extents_.sizes[d]);
  return all;
}

}  // namespace tap::backend
