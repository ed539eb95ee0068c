#include "replay/execution.h"

#include <algorithm>

namespace tap::check {

Box points_of(const ir::Operator& op, const Box& box, bool walked, Obligation obligation) {
  Box points = box, wanted{box_of(op)};
  std::vector<bool> walks(box.rank(), false);  // what is walked block by block
  for (const ir::Blocking& b : op.blockings) {
    const ir::Range number = box.dims[b.block_dim];
    if (op.dims[b.block_dim].role == ir::DimRole::reduction) {
      points.dims[b.block_dim] = {0, 1};
      if (walked) wanted.dims[b.block_dim] = {0, 1};
      walks[b.dim] = true;
    } else if (!number.empty()) {
      bool numbers = number.lo >= 0 && number.hi <= b.blocks.count && !walks[b.dim];
      expect(obligation, numbers, "dim {} has the number of no block", b.block_dim);
      ir::Range& cut = wanted.dims[b.dim];
      cut = {edge(b.blocks, cut, number.lo), edge(b.blocks, cut, number.hi)};
    }
  }
  for (std::size_t d = 0; d < box.rank(); ++d) {
    const ir::Range has = box.dims[d], all = wanted.dims[d];
    bool fits = op.dims[d].role == ir::DimRole::parallel ? all.contains(has) : has == all;
    expect(obligation, fits || (has.empty() && all.empty()), "dim {} runs over {}..{}, which is not {}..{}", d, has.lo,
           has.hi, all.lo, all.hi);
  }
  return points;
}
bool is_idle(const ir::Operator& op, const Box& points) {
  for (std::size_t d = 0; d < points.rank(); ++d)
    if (op.dims[d].role == ir::DimRole::parallel && points.dims[d].empty()) return true;
  return false;
}
bool is_whole(const ir::Operator& op) { return op.region() && op.region()->kind != ir::RegionKind::group; }

Box bounds_of(const ir::Access& access, const Box& points) {
  Box bounds;
  bounds.dims.reserve(access.projection.shape.size());
  for (std::size_t axis = 0; axis < access.projection.shape.size(); ++axis) {
    const AffineExpr& row = access.projection.start.rows[axis];
    std::int64_t last = greatest(row, points);
    bounds.dims.push_back({least(row, points), checked::add(last, access.projection.shape[axis])});
  }
  return bounds;
}

void check_reads(const Run& run, std::size_t operand, const Box& points, const Contents& memory,
                 Obligation obligation) {
  const ir::Operator& op = *run.side.op;
  auto need = [&](const Box& cells) {
    expect(obligation, memory.hold(run.side.operands[operand], cells), "operand {} of `{}` is not there: the memory {}",
           operand, op.name, memory.value == run.side.operands[operand] ? "lacks cells of it" : "holds something else");
  };
  const Box whole = Box::of_shape(op.operands[operand].shape);
  if (is_whole(op)) need(whole);
  if (points.empty()) return;  // a reduction over nothing reads nothing
  for (const ir::Access& read : op.reads)
    if (read.tensor == operand) need(intersect(bounds_of(read, points), whole));
}

bool is_told_by(const ir::Access& access, std::size_t dim) {
  return std::ranges::any_of(access.projection.start.rows, [dim](auto& row) { return speaks_of(row, dim); });
}

namespace {

// Of a reduction, what bounds the reduced dims says nothing of the cells.
bool cuts_cells(const ir::Operator& op, const ir::Constraint& c) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction && speaks_of(c.expr, d)) return false;
  return true;
}
Box one_of_each_reduced(const ir::Operator& op, Box points) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction) points.dims[d] = {0, 1};
  return points;
}

// How many cells the points write, which no other points do; 0 if some of the points may be none of the operator's.
std::int64_t count_of(const ir::Operator& op, const ir::Access& write, const Box& points) {
  std::int64_t written = 1;
  for (std::int64_t extent : write.projection.shape) written = checked::mul(written, extent);
  for (std::size_t d = 0; d < points.rank(); ++d)
    if (is_told_by(write, d)) written = checked::mul(written, points.dims[d].size());
  bool all = std::ranges::all_of(op.constraints, [&](const ir::Constraint& c) {
    bool both = c.comparison == ir::Comparison::equal_zero;
    return !cuts_cells(op, c) || (least(c.expr, points) >= 0 && (!both || greatest(c.expr, points) <= 0));
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

Box written_by(const ir::Operator& op, const ir::Access& write, const Box& points) {
  return intersect(bounds_of(write, one_of_each_reduced(op, points)), Box::of_shape(op.results[write.tensor].shape));
}

bool leaves_no_gap(const ir::Operator& op, const ir::Access& write, const Box& points) {
  return count_of(op, write, points) >= bounds_of(write, points).size();
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

void add_written(const ir::Program& program, const Run& run, const ir::Access& write, const Box& all, const Box& box,
                 Contents& memory) {
  const ir::Operator& op = *run.side.op;
  const Class value = run.side.results[write.tensor];
  const Box points = one_of_each_reduced(op, all), cells = written_by(op, write, points);
  if (memory.value != value) memory = {value};
  const bool dense = leaves_no_gap(op, write, points);
  if (dense) memory.cells.add(cells);
  if (dense && cells == box) return;
  memory.gaps |= !dense;
  const Box spread = spread_of(op, write, points);
  BoxSet& seen = memory.points[&write];
  std::size_t told = 0;
  for (std::size_t d = 0; d < points.rank(); ++d) told += is_told_by(write, d);
  if (told == spread.rank() && !seen.meets(spread))
    memory.count = checked::add(memory.count, count_of(op, write, points));
  seen.add(spread);
  if (!memory.gaps) return;
  if (memory.count == box.size()) memory.cells.add(box);
  else if (all_wrote(program, run, write, memory)) memory.cells.add(Box::of_shape(op.results[write.tensor].shape));
}

}  // namespace tap::check
