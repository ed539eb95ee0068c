// Legality of writes: the writes of a value cover it, each cell once. Adjacent boxes are compared by their sizes;
// other forms are enumerated cell by cell, up to a limit.
//
//   y[i] = a[i]   y[8 + j] = b[j]          two boxes, which do not meet and have as many cells as y
#include "check/legal.h"

namespace tap::check {

namespace {

constexpr std::int64_t most_writes = 1 << 20;

// A write, over the dims that it depends on: neither reduced dims nor dims that make no difference.
struct Written {
  Box points = {};
  std::vector<ir::Constraint> constraints = {};
  std::vector<AffineExpr> rows = {};
  Shape extents = {};
  const ir::Operator* op = nullptr;
  bool repeated = false;  // it depends on the trip of an iterate
};

bool speaks(const std::vector<AffineExpr>& rows, std::size_t d) {
  return std::ranges::any_of(rows, [d](const AffineExpr& row) { return uses_dim(row, d); });
}

Written written(const OneWrite& write) {
  const ir::Operator& op = *write.op;
  Written made{box_of(op), {}, write.by->projection.start.rows, write.by->projection.shape, write.op};
  for (const ir::Constraint& c : op.constraints) {
    bool reduces = false;
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      reduces |= op.dims[d].role == ir::DimRole::reduction && uses_dim(c.expr, d);
    if (!reduces) made.constraints.push_back(c);
  }
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    auto numbers = [d](const ir::Blocking& b) { return b.block_dim == d; };  // each point is in one block
    const bool other = std::ranges::count(write.by->invariant_dims, d) > 0 ||
                       (std::ranges::any_of(op.blockings, numbers) && !speaks(made.rows, d));
    const bool is_used = speaks(made.rows, d) || std::ranges::any_of(made.constraints, [d](const ir::Constraint& c) {
                           return uses_dim(c.expr, d);
                         });
    if (op.dims[d].role == ir::DimRole::counter) made.repeated |= is_used;
    if (op.dims[d].role != ir::DimRole::parallel || (other && !is_used)) made.points.dims[d] = {0, 1};
  }
  return made;
}

// The box of cells that it writes, each once, if they form one: on each axis the cells of one dim's points are
// contiguous, then those of the next dim.
std::optional<Box> cells_of(const Written& write) {
  std::vector<bool> used(write.points.rank(), false);
  Box cells;
  for (std::size_t axis = 0; axis < write.rows.size(); ++axis) {
    const AffineExpr& row = write.rows[axis];
    std::int64_t reach = write.extents[axis];
    for (std::size_t turn = 0; turn < used.size(); ++turn)
      for (std::size_t d = 0; d < used.size(); ++d)
        if (!used[d] && reach > 0 && (row.coefficients[d] == reach || row.coefficients[d] == -reach))
          used[d] = true, reach = checked::mul(reach, write.points.dims[d].hi - write.points.dims[d].lo);
    const std::int64_t first = least(row, write.points);
    const std::int64_t last = checked::add(greatest(row, write.points), write.extents[axis]);
    if (checked::sub(last, first) != reach) return std::nullopt;
    cells.dims.push_back({first, last});
  }
  for (std::size_t d = 0; d < used.size(); ++d)
    if (!used[d] && checked::sub(write.points.dims[d].hi, write.points.dims[d].lo) != 1) return std::nullopt;
  return cells;
}

bool are_boxes_side_by_side(const Box& whole, const std::vector<Written>& writes) {
  std::vector<Box> boxes;
  std::int64_t cells = 0, all = 1;
  for (const Written& write : writes) {
    if (write.points.empty()) continue;
    const auto box = write.constraints.empty() && !write.repeated ? cells_of(write) : std::nullopt;
    if (!box || !whole.contains(*box)) return false;
    std::int64_t size = 1;
    for (const ir::Range& range : box->dims) size = checked::mul(size, range.hi - range.lo);
    for (const Box& other : boxes)
      if (!disjoint(*box, other)) return false;
    cells = checked::add(cells, size);
    boxes.push_back(*box);
  }
  for (const ir::Range& range : whole.dims) all = checked::mul(all, range.hi);
  return cells == all;
}

// Counts the cells of one point; refuses one that is out of bounds.
void count_point(const Written& write, const std::vector<std::int64_t>& point, const Shape& shape,
                 std::vector<std::uint8_t>& times) {
  Box cells;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t at = value_at(write.rows[axis], point);
    expect(Obligation::legal, at >= 0 && at <= checked::sub(shape[axis], write.extents[axis]),
           "`{}` writes outside its result: at {} on axis {}", write.op->name, at, axis);
    cells.dims.push_back({at, at + write.extents[axis]});
  }
  each_point(cells, most_writes, [&](const std::vector<std::int64_t>& cell) {
    std::int64_t number = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) number = number * shape[axis] + cell[axis];
    expect(Obligation::legal, ++times[static_cast<std::size_t>(number)] == 1, "`{}` writes cell {} a second time",
           write.op->name, number);
  });
}

}  // namespace

bool is_written_once(const Shape& shape, const std::vector<OneWrite>& writes) {
  const Box whole = Box::of_shape(shape);
  std::vector<Written> all;
  std::int64_t work = 1;
  for (std::int64_t extent : shape)
    work = extent > most_writes / work ? most_writes + 1 : work * std::max<std::int64_t>(extent, 1);
  for (const OneWrite& write : writes) all.push_back(written(write));
  if (are_boxes_side_by_side(whole, all)) return true;
  if (work > most_writes || std::ranges::any_of(all, &Written::repeated)) return false;
  const std::int64_t cells = std::ranges::count(shape, 0) > 0 ? 0 : work;
  std::vector<std::uint8_t> times(static_cast<std::size_t>(cells), 0);
  for (const Written& write : all) {
    const bool few = each_point(write.points, most_writes, [&](const std::vector<std::int64_t>& point) {
      if (std::ranges::all_of(write.constraints, [&](const ir::Constraint& c) { return holds_at(c, point); }))
        count_point(write, point, shape, times);
    });
    if (!few) return false;
  }
  const auto left = std::ranges::find(times, 0);
  expect(Obligation::legal, left == times.end(), "cell {} is never written", left - times.begin());
  return true;
}

}  // namespace tap::check
