#include "backend/tiles/point_work.h"

#include <algorithm>
#include <cmath>

#include "backend/loops/lanes_apart.h"
#include "backend/tiles/cache_sets.h"
#include "backend/tiles/packable.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

double weight(const CellNode& node) {
  if (info(node.op).kind == CellKind::leaf) return 0;
  if (info(node.op).kind == CellKind::function) return 12;
  if (node.op == CellOp::div || node.op == CellOp::mod) return 6;
  return 1;
}

// Cells that are neighbours in memory differ there: axes of one cell may follow it.
std::size_t innermost_axis(const Shape& shape) {
  for (std::size_t axis = shape.size(); axis-- > 1;)
    if (shape[axis] != 1) return axis;
  return 0;
}

}  // namespace

double instructions_of_point(const Operator& op) {
  auto all = static_cast<double>(op.writes.size());
  if (!op.map() && !op.reduce()) return all;
  for (CellId id : reachable_from(op.exprs, op.map() ? op.map()->values : op.reduce()->operands))
    all += op.exprs[id].op == CellOp::read ? 1 : weight(op.exprs[id]);
  return all;
}

double usual_points(const Operator& op) {
  constexpr double usual = 8;  // instructions; what is more takes twice as long, as it does not overlap with accesses
  return std::max(1.0, 2 * instructions_of_point(op) / usual - 1);
}

double steps_of_point(const Program& program, const Operator& op) {
  if (!op.reduce()) return instructions_of_point(op);
  const Monoid& monoid = program[op.reduce()->monoid];
  double all = 0;
  for (CellId id : reachable_from(op.exprs, op.reduce()->operands)) all += weight(op.exprs[id]);
  for (CellId id : reachable_from(monoid.exprs, monoid.combine)) all += weight(monoid.exprs[id]);
  const bool adds_products = op.exprs[op.reduce()->operands[0]].op == CellOp::mul &&
                             monoid.exprs[monoid.combine[0]].op == CellOp::add;
  return std::max(adds_products ? all - 1 : all, 1.0);
}

PointWork::PointWork(const Program& program, const Operator& op, const Extents& extents,
                     const std::vector<bool>& prepared, const Machine& machine)
    : op_(op), extents_(extents), prepared_(prepared), vector_bytes_(static_cast<std::uint32_t>(machine.vector_bytes)) {
  std::vector<CellId> roots = op.map() ? op.map()->values : op.reduce()->operands;
  needed_ = reachable_from(op.exprs, roots);
  for (CellId id : needed_) {
    if (id.index() >= follows_.size()) follows_.resize(id.index() + 1);
    for (std::size_t d = 0; d < op.dims.size(); ++d) follows_[id.index()].push_back(depends_on(op, {id}, d));
  }
  if (op.reduce()) monoid_ = &program[op.reduce()->monoid];
  bytes_ = widest_type();
  if (!op.reduce()) return;
  for (CellId id : reachable_from(monoid_->exprs, monoid_->combine)) combination_ += weight(monoid_->exprs[id]);
}

std::uint32_t PointWork::widest_type() const {
  std::size_t widest = 1;
  auto see = [&](ElementType type) { widest = std::max(widest, size_of(compute_type(type))); };
  for (CellId id : needed_) {
    CellOp what = op_.exprs[id].op;
    if (what != CellOp::index && what != CellOp::constant && !is_bool(op_.exprs[id].type)) see(op_.exprs[id].type);
  }
  for (const TensorType& type : op_.results) see(type.element);
  if (monoid_)
    for (const MonoidComponent& c : monoid_->components) see(c.type);
  return static_cast<std::uint32_t>(widest);
}

std::uint32_t PointWork::registers(const Tile& tile) const {
  std::uint32_t all = 0;
  const std::uint32_t vectors = tile.vectors * registers_of(tile.lanes);
  if (monoid_) all = tile.row_count * vectors * static_cast<std::uint32_t>(monoid_->components.size());
  for (CellId id : needed_)
    if (op_.exprs[id].op == CellOp::read && follows(id, tile.dim) && !(tile.rows && follows(id, *tile.rows)))
      all += vectors;
  return all;
}

bool PointWork::is_contiguous(std::size_t dim) const {
  auto is = [&](const Access& access, Along allowed) {
    const Along found = kind(access.projection.start.rows, dim);
    return found == Along::dense || found == allowed;
  };
  for (const Access& write : op_.writes)
    if (!is(write, Along::dense)) return false;
  for (CellId id : needed_)
    if (op_.exprs[id].op == CellOp::read && !is(op_.reads[op_.exprs[id].attribute], Along::same)) return false;
  return true;
}

// Of one cell, when the line that holds it has left the caches that are smaller than the tensor.
double PointWork::far_line(const Access& access, const TensorType& type) const {
  constexpr double from_memory = 4.0 * reference_machine.line_cycles, from_l2 = reference_machine.line_cycles;
  const double bytes = footprint(access, type);
  return bytes > reference_machine.l2_bytes ? from_memory : bytes > reference_machine.l1_bytes ? from_l2 : 0;
}

// The lines that a strided lane takes alone: the cells of a line may also be those of the next lanes. Its other cells are used for other
// points, when it has left the near caches; unless they are those of the next rows or steps of the reduction, as far as these use up
// the line.
double PointWork::far_lines(const Access& access, const TensorType& type, const Tile& tile) const {
  constexpr double line = reference_machine.line_bytes;
  if (!monoid_) return 0;
  auto distance = [&](std::size_t d) { return static_cast<double>(distance_along(type, access, d)); };
  double wasted = 1;
  for (std::size_t d = 0; d < op_.dims.size(); ++d) {
    if ((op_.dims[d].role != DimRole::reduction && d != tile.rows) || !uses(access, d) || distance(d) >= line) continue;
    const double points = d == tile.rows ? tile.row_count : static_cast<double>(extents_.sizes[d]);
    wasted = std::min(wasted, std::max(1 / points - distance(d) / line, 0.0));
  }
  return wasted * std::min(distance(tile.dim) / line, 1.0) * far_line(access, type);
}

bool PointWork::stores_across(std::size_t dim, std::size_t rows) const {
  return op_.map() && op_.writes.size() == 1 && kind(op_.writes[0].projection.start.rows, dim) == Along::strided &&
         kind(op_.writes[0].projection.start.rows, rows) == Along::dense;
}

double PointWork::reads() const {
  double all = 0;
  for (CellId id : needed_) all += op_.exprs[id].op == CellOp::read;
  return all;
}

PointWork::Along PointWork::kind(const std::vector<AffineExpr>& rows, std::size_t dim) {
  Along result = Along::same;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    if (rows[axis].coefficients[dim] == 0) continue;
    bool dense = axis + 1 == rows.size() && rows[axis].coefficients[dim] == 1 && result == Along::same;
    result = dense ? Along::dense : Along::strided;
  }
  return result;
}

double PointWork::copies(CellId id, const Tile& tile) const {
  double result = follows(id, tile.dim) ? tile.vectors * registers_of(tile.lanes) : 1;
  if (tile.rows && follows(id, *tile.rows)) result *= tile.row_count;
  return result;
}

double PointWork::cost(CellId id, const Tile& tile) const {
  const CellNode& node = op_.exprs[id];
  if (node.op != CellOp::read) return weight(node);
  const Access& access = op_.reads[node.attribute];
  for (const auto& c : access.coordinates)
    if (c && depends_on(op_, {*c}, tile.dim)) return 1.5 * tile.lanes / registers_of(tile.lanes);
  if (is_prepared(id, access, tile)) return 1 + panel_cost(id, access, tile);
  switch (kind(access.projection.start.rows, tile.dim)) {
    case Along::same:
      return (is_folded(id, tile) ? 0.5 : 1) +
             (is_window(id, access, tile) ? window_copy(access, tile) : guard(access, tile) + line_cost(access, tile));
    case Along::dense:
      if (const auto copied = lane_copy(access, tile)) return *copied;
      return (access.fill && may_be_outside(op_, access) ? 4 : 1) + far_memory_cost(id, access, tile) +
             line_crossings(access, tile) + short_of_line(id, access, tile);
    case Along::strided: return strided(id, access, tile) + far_memory_cost(id, access, tile);
  }
  return 1;
}

// With 64-byte vectors an instruction can read one cell for all lanes: a load that a single vector uses is no instruction.
// It still takes a load port, of which there are as few as of multiply-adds; so where several vectors can share the load, they
// are better (1.3 times for products of 256 and 384 cubed), though their instructions are no fewer.
bool PointWork::is_folded(CellId id, const Tile& tile) const {
  return vector_bytes_ == 64 && monoid_ && tile.rows && follows(id, *tile.rows) && tile.vectors == 1 &&
         extents_.sizes[tile.dim] < 2 * static_cast<std::int64_t>(tile.lanes);
}

bool PointWork::share_lanes(const Tile& tile) const {
  return tile.rows &&
         any_read([&](CellId id, const Access&) { return follows(id, tile.dim) && !follows(id, *tile.rows); });
}

bool PointWork::reads_window(const Tile& tile) const {
  return any_read([&](CellId id, const Access& access) { return is_window(id, access, tile); });
}

bool PointWork::is_window(CellId id, const Access& access, const Tile& tile) const {
  return monoid_ && tile.rows && follows(id, *tile.rows) && can_be_window(op_, access, extents_);
}

// The share of one cell that rows read: the box of all rows' windows is copied once for all lanes, in runs along the last axis,
// each of which begins in a line of its own, by whole vectors.
double PointWork::window_copy(const Access& access, const Tile& tile) const {
  constexpr double run_start = 6 + 2.0 * reference_machine.line_cycles;
  double cells = 1, run = 1,
         reads = std::ceil(static_cast<double>(extents_.sizes[tile.dim]) / (tile.lanes * tile.vectors));
  for (const AffineExpr& row : access.projection.start.rows) {
    run = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role == DimRole::reduction || d == tile.rows)
        run += static_cast<double>(std::abs(row.coefficients[d])) * static_cast<double>(extents_.sizes[d] - 1);
    cells *= run;
  }
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (op_.dims[d].role == DimRole::reduction || d == tile.rows) reads *= static_cast<double>(extents_.sizes[d]);
  const double lanes =
      static_cast<double>(full_vector_bytes) / size_of(compute_type(op_.operands[access.tensor].element));
  return cells * (1 / lanes + run_start / run) / reads;
}

bool PointWork::is_prepared(CellId id, const Access& access, const Tile& tile) const {
  return access.tensor < prepared_.size() && prepared_[access.tensor] && monoid_ && tile.rows &&
         op_.dims[tile.dim].role == DimRole::parallel && follows(id, tile.dim) && !follows(id, *tile.rows) &&
         can_be_packed(op_, access, extents_);
}

double PointWork::guard(const Access& access, const Tile& tile) const {
  if (!access.fill || !may_be_outside(op_, access)) return 0;
  const auto& rows = access.projection.start.rows;
  bool follows = tile.rows && std::any_of(rows.begin(), rows.end(),
                                          [&](const AffineExpr& row) { return row.coefficients[*tile.rows] != 0; });
  return follows ? 6 : 6.0 / tile.row_count;
}

double PointWork::line_cost(const Access& access, const Tile& tile) const {
  constexpr double line = reference_machine.line_cycles, cells = reference_machine.line_bytes / 4;
  if (!monoid_ || access.projection.start.rows.empty()) return 0;
  const auto& last = access.projection.start.rows[innermost_axis(op_.operands[access.tensor].shape)].coefficients;
  if (tile.rows && std::abs(last[*tile.rows]) == 1) return line * lines_of_rows(access, tile) / tile.row_count;
  bool steps = false;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    steps = steps || (op_.dims[d].role == DimRole::reduction && uses(access, d));
  const double run = contiguous_steps(access, share_lanes(tile) && uses(access, *tile.rows));
  if (steps && rows_crowd(access, tile)) return line;
  return steps ? line / std::min(run, cells) : 0;
}

// How many neighbouring cells the steps of the reduction read; of rows, each of which has its own, along several dims: k[o, c, u, v]
// along c, u and v.
double PointWork::contiguous_steps(const Access& access, bool of_rows) const {
  const auto cell = static_cast<double>(size_of(op_.operands[access.tensor].element));
  double bytes = cell;
  for (bool longer = true; longer;) {
    longer = false;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (op_.dims[d].role != DimRole::reduction || !uses(access, d)) continue;
      const auto distance = static_cast<double>(distance_along(op_, access, d));
      const double all = distance * static_cast<double>(extents_.sizes[d]);
      if (distance > (of_rows ? bytes : cell) || all <= bytes) continue;
      bytes = all;
      longer = true;
    }
  }
  return bytes / cell;
}

// How many lines the rows read at each step, if their cells are neighbours. They begin anywhere in a line, and by the time the next
// rows need the rest of it, the steps of a long reduction have evicted it. Rows that are used often are packed.
double PointWork::lines_of_rows(const Access& access, const Tile& tile) const {
  constexpr double cells = reference_machine.line_bytes / 4;
  constexpr std::int64_t often = 4;
  double lines = 1;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (op_.dims[d].role == DimRole::reduction && distance_along(op_, access, d) >= reference_machine.line_bytes)
      lines *= static_cast<double>(extents_.sizes[d]);
  const bool evicted = lines * reference_machine.line_bytes > reference_machine.l1_bytes &&
                       extents_.sizes[tile.dim] < often * tile.lanes * tile.vectors;
  return evicted ? 1 + (tile.row_count - 1) / cells : tile.row_count / cells;
}

// Whether the lines that the rows read evict each other before all their cells are read. Rows that are used often are packed.
bool PointWork::rows_crowd(const Access& access, const Tile& tile) const {
  constexpr std::int64_t often = 4;
  if (!tile.rows || extents_.sizes[tile.dim] >= often * tile.lanes * tile.vectors) return false;
  return lines_in_a_set(tile.row_count, distance_along(op_, access, *tile.rows), reference_machine) >
         ways_of_a_set(reference_machine) - 2;
}

std::optional<double> PointWork::lane_copy(const Access& access, const Tile& tile) const {
  if (!monoid_ || op_.dims[tile.dim].role != DimRole::reduction) return {};
  const auto uses = uses_of_lane_copy(op_, access, tile.dim, extents_);
  if (!uses) return {};
  return 1 + 1.5 * tile.lanes / registers_of(tile.lanes) / *uses;
}

// A load that crosses a cache line is two.
double PointWork::line_crossings(const Access& access, const Tile& tile) const {
  const bool long_vectors = tile.lanes * bytes_ >= static_cast<std::uint32_t>(reference_machine.line_bytes);
  return monoid_ && op_.dims[tile.dim].role == DimRole::reduction && long_vectors &&
                 crosses_lines(op_, access, tile.dim)
             ? 1
             : 0;
}

// Rows of few lanes that lie apart in memory use a part of each line. Unless the next step of the reduction uses the next part, the
// line may have left the first cache by then, which holds those of all rows and steps.
double PointWork::short_of_line(CellId id, const Access& access, const Tile& tile) const {
  if (!monoid_ || !tile.rows || !follows(id, *tile.rows)) return 0;
  const auto used = static_cast<std::int64_t>(tile.lanes * tile.vectors * bytes_);
  if (used >= reference_machine.line_bytes || distance_along(op_, access, *tile.rows) < reference_machine.line_bytes)
    return 0;
  double lines = static_cast<double>(extents_.sizes[*tile.rows]);
  for (std::size_t d = 0; d < op_.dims.size(); ++d) {
    if (op_.dims[d].role != DimRole::reduction || !uses(access, d)) continue;
    if (distance_along(op_, access, d) < reference_machine.line_bytes) return 0;
    lines *= static_cast<double>(extents_.sizes[d]);
  }
  if (lines * reference_machine.line_bytes <= reference_machine.l1_bytes) return 0;
  return far_line(access, op_.operands[access.tensor]) > 0 ? reference_machine.line_cycles : 0;
}

// Cells that are a few apart: loads of all between them, and shuffles. Nothing if each lane is an access.
std::optional<double> PointWork::every_few(const Access& access, const Tile& tile) const {
  const std::int64_t step = cells_apart(op_.operands[access.tensor], access, tile.dim);
  if (step < 1 || step > most_steps_between_lanes) return {};
  // Results that are farther apart are stored piece by piece.
  for (const Access& write : op_.writes)
    if (kind(write.projection.start.rows, tile.dim) == Along::strided && !store_every_few(write, tile)) return {};
  const std::int64_t loads = step, shuffles = std::max<std::int64_t>(step - 1, 1);  // one step: in reverse order
  return static_cast<double>(loads + shuffles) + (access.fill && may_be_outside(op_, access) ? 3 : 0);
}

double PointWork::strided(CellId id, const Access& access, const Tile& tile) const {
  const double each = tile.lanes / registers_of(tile.lanes);
  const double direct = every_few(access, tile).value_or(1.5 * each) +
                        far_lines(access, op_.operands[access.tensor], tile) * each +
                        (monoid_ ? guard(access, tile) : 0);
  if (const auto copied = lane_copy(access, tile)) return *copied;
  if (!monoid_ || !tile.rows || op_.dims[tile.dim].role != DimRole::parallel || follows(id, *tile.rows) ||
      !can_be_packed(op_, access, extents_))
    return direct;
  RegisterTile packed{tile.dim, tile.lanes, tile.vectors, false, tile.rows, tile.row_count};
  // A vector's share of shuffles; and of lines that are written and read again, if the panel is not near until then.
  const double transposed = far_memory_cost(id, access, tile) > 0 ? 20 : 14;
  double copy = transposed_along(op_, access, tile.dim, *tile.rows, extents_) ? transposed : 2 * direct;
  return std::min(direct, 1 + copy / uses_of_packed(op_, access, packed, extents_));
}

}  // namespace tap::backend
