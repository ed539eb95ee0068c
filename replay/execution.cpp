#include "replay/execution.h"

#include <algorithm>

namespace tap::check {

bool is_idle(const ir::Operator& op, const Box& points) {
  for (std::size_t d = 0; d < points.rank(); ++d)
    if (op.dims[d].role == ir::DimRole::parallel && points.dims[d].empty()) return true;
  return false;
}
bool is_whole(const ir::Operator& op) { return op.region() && op.region()->kind != ir::RegionKind::group; }

bool is_told_by(const ir::Access& access, std::size_t dim) {
  return std::ranges::any_of(access.projection.start.rows, [dim](auto& row) { return speaks_of(row, dim); });
}

bool cuts_cells(const ir::Operator& op, const ir::Constraint& c) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction && speaks_of(c.expr, d)) return false;
  return true;
}

namespace {

// How many cells the points write, which no other points do; 0 if some within the reach may be none of the operator's.
std::int64_t count_of(const ir::Operator& op, const ir::Access& write, const Box& points, const Box& reach) {
  std::int64_t written = 1;
  for (std::int64_t extent : write.projection.shape) written = checked::mul(written, extent);
  for (std::size_t d = 0; d < points.rank(); ++d)
    if (is_told_by(write, d)) written = checked::mul(written, points.dims[d].size());
  bool all = std::ranges::all_of(op.constraints, [&](const ir::Constraint& c) {
    bool both = c.comparison == ir::Comparison::equal_zero;
    return !cuts_cells(op, c) || (least(c.expr, reach) >= 0 && (!both || greatest(c.expr, reach) <= 0));
  });
  return all ? written : 0;
}

// Whether all of the value's writers' points were at work on the memory.
bool all_wrote(const ir::Program& program, const Run& run, const ir::Access& write, const Contents& memory) {
  for (auto [id, result] : (*run.writers)[run.side.operation->results[write.tensor].index()]) {
    const ir::Operator& op = program[(*run.graph)[id].op];
    const Box space = one_of_each_reduced(op, {box_of(op)});
    for (const ir::Access& by : op.writes) {
      if (by.tensor != result || is_idle(op, space)) continue;
      auto wrote = memory.points.find(&by);
      if (wrote == memory.points.end() || !wrote->second.covers(spread_of(op, by, space))) return false;
    }
  }
  return true;
}

}  // namespace

Box one_of_each_reduced(const ir::Operator& op, Box points) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction) points.dims[d] = {0, 1};
  return points;
}

bool leaves_no_gap(const ir::Operator& op, const ir::Access& write, const Box& points, const Box& reach) {
  const Moving cells = touched({}, write, points);
  std::int64_t all = 1;
  for (std::int64_t size : cells.sizes) all = checked::mul(all, size);
  return count_of(op, write, points, reach) >= all;
}

bool never_leaves_gaps(const Run& run, const ir::Access& write) {
  const ir::Operator& op = *run.side.op;
  std::vector<int> axes(op.dims.size());
  for (std::size_t axis = 0; axis < write.projection.shape.size(); ++axis) {
    int told = 0;
    for (std::size_t d = 0; d < op.dims.size(); ++d) {
      const std::int64_t by = write.projection.start.rows[axis].coefficients[d];
      if (by == 0) continue;
      if (++told > 1 || ++axes[d] > 1 || std::abs(by) != write.projection.shape[axis]) return false;
    }
  }
  return op.constraints.empty() && std::ranges::count(op.writes, write.tensor, &ir::Access::tensor) == 1 &&
         (*run.writers)[run.side.operation->results[write.tensor].index()].size() == 1;
}

Box spread_of(const ir::Operator& op, const ir::Access& write, const Box& points) {
  Box spread;
  for (std::size_t d = 0; d < points.rank(); ++d) {
    bool matters = is_told_by(write, d);
    for (const ir::Constraint& c : op.constraints) matters |= cuts_cells(op, c) && speaks_of(c.expr, d);
    if (matters) spread.dims.push_back(points.dims[d]);
  }
  return spread;
}

void add_written(const ir::Program& program, const Run& run, const ir::Access& write, const Box& points,
                 const Box& cells, bool dense, const Box& box, const Box& tensor, Contents& memory) {
  const ir::Operator& op = *run.side.op;
  const Class value = run.side.results[write.tensor];
  if (memory.value != value) memory = {value};
  if (dense) memory.cells.add(cells);
  if (dense && cells == box) return;
  memory.gaps |= !dense;
  const Box spread = spread_of(op, write, points);
  BoxSet& seen = memory.points[&write];
  std::size_t told = 0;
  for (std::size_t d = 0; d < points.rank(); ++d) told += is_told_by(write, d);
  if (told == spread.rank() && !seen.meets(spread))
    memory.count = checked::add(memory.count, count_of(op, write, points, points));
  seen.add(spread);
  if (!memory.gaps) return;
  if (memory.count == box.size()) memory.cells.add(box);
  else if (all_wrote(program, run, write, memory)) memory.cells.add(tensor);
}

}  // namespace tap::check
