#include "replay/execution.h"

#include <algorithm>

#include "check/justify.h"

namespace tap::check {

Ranges cells_of(const Shape& shape) {
  Ranges cells;
  cells.reserve(shape.size());
  for (std::int64_t extent : shape) cells.push_back({0, extent});
  return cells;
}
Ranges within(Ranges a, const Ranges& b) {
  for (std::size_t d = 0; d < a.size(); ++d) a[d] = {std::max(a[d].lo, b[d].lo), std::min(a[d].hi, b[d].hi)};
  return a;
}
bool inside(const Ranges& a, const Ranges& b) { return no_points(a) || within(a, b) == a; }

void Boxes::add(Ranges box) {
  if (no_points(box)) return;
  for (; !boxes_.empty(); boxes_.pop_back()) {
    const Ranges& last = boxes_.back();
    if (inside(box, last)) return;
    std::size_t other = 0, differ = 0;
    for (std::size_t d = 0; d < box.size(); ++d)
      if (box[d] != last[d]) other = d, ++differ;
    if (differ != 1 || box[other].lo > last[other].hi || last[other].lo > box[other].hi) break;
    box[other] = {std::min(box[other].lo, last[other].lo), std::max(box[other].hi, last[other].hi)};
  }
  boxes_.push_back(std::move(box));
}
bool Boxes::meet(const Ranges& box) const {
  return std::ranges::any_of(boxes_, [&](const Ranges& b) { return !no_points(within(box, b)); });
}
bool Boxes::cover(const Ranges& box) const {
  std::vector<std::pair<Ranges, std::size_t>> open{{box, 0}};  // to be covered by the boxes from that one on
  while (!open.empty()) {
    auto [rest, k] = std::move(open.back());
    open.pop_back();
    if (no_points(rest)) continue;
    while (k < boxes_.size() && no_points(within(rest, boxes_[k]))) ++k;
    if (k == boxes_.size()) return false;
    for (std::size_t d = 0; d < rest.size(); ++d) {
      const ir::Range by = boxes_[k][d], whole = rest[d];
      if (whole.lo < by.lo) rest[d] = {whole.lo, by.lo}, open.emplace_back(rest, k + 1);
      if (by.hi < whole.hi) rest[d] = {by.hi, whole.hi}, open.emplace_back(rest, k + 1);
      rest[d] = {std::max(whole.lo, by.lo), std::min(whole.hi, by.hi)};
    }
  }
  return true;
}

Ranges points_of(const ir::Operator& op, const Ranges& box, bool walked, Obligation obligation) {
  Ranges points = box, wanted;
  wanted.reserve(box.size());
  for (const ir::IndexDim& dim : op.dims) wanted.push_back(dim.range);
  std::vector<bool> walks(box.size(), false);  // what is walked block by block
  for (const ir::Blocking& b : op.blockings) {
    const ir::Range number = box[b.block_dim];
    if (op.dims[b.block_dim].role == ir::DimRole::reduction) {
      points[b.block_dim] = {0, 1};
      if (walked) wanted[b.block_dim] = {0, 1};
      walks[b.dim] = true;
    } else if (number.lo < number.hi) {
      bool one = number.hi == number.lo + 1 && number.lo >= 0 && number.hi <= b.blocks.count && !walks[b.dim];
      expect(obligation, one, "dim {} has not one block number", b.block_dim);
      ir::Range& cut = wanted[b.dim];
      cut = {edge(b.blocks, cut, number.lo), edge(b.blocks, cut, number.hi)};
    }
  }
  for (std::size_t d = 0; d < box.size(); ++d) {
    bool part = box[d].lo >= wanted[d].lo && box[d].hi <= wanted[d].hi, empty = box[d].hi <= box[d].lo;
    bool fits = op.dims[d].role == ir::DimRole::parallel ? part || empty : box[d] == wanted[d];
    expect(obligation, fits || (empty && wanted[d].hi <= wanted[d].lo), "dim {} runs over {}..{}, which is not {}..{}",
           d, box[d].lo, box[d].hi, wanted[d].lo, wanted[d].hi);
  }
  return points;
}
bool is_idle(const ir::Operator& op, const Ranges& points) {
  for (std::size_t d = 0; d < points.size(); ++d)
    if (op.dims[d].role == ir::DimRole::parallel && points[d].hi <= points[d].lo) return true;
  return false;
}

Ranges bounds_of(const ir::Access& access, const Ranges& points) {
  Ranges bounds;
  bounds.reserve(access.projection.shape.size());
  for (std::size_t axis = 0; axis < access.projection.shape.size(); ++axis) {
    const AffineExpr& row = access.projection.start.rows[axis];
    bounds.push_back({least(row, points), checked::add(greatest(row, points), access.projection.shape[axis])});
  }
  return bounds;
}

void check_reads(const Run& run, std::size_t operand, const Ranges& points, const Contents& memory,
                 Obligation obligation) {
  const ir::Operator& op = *run.side.op;
  auto need = [&](const Ranges& cells) {
    expect(obligation, memory.hold(run.side.operands[operand], cells), "operand {} is not there: the memory {}",
           operand, memory.value == run.side.operands[operand] ? "lacks cells of it" : "holds something else");
  };
  const Ranges whole = cells_of(op.operands[operand].shape);
  if (op.region() && op.region()->kind != ir::RegionKind::group) need(whole);
  if (no_points(points)) return;  // a reduction over nothing reads nothing
  for (const ir::Access& read : op.reads) {
    if (read.tensor != operand) continue;
    Ranges cells = within(bounds_of(read, points), whole);
    if (!no_points(cells)) need(cells);
  }
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
Ranges one_of_each_reduced(const ir::Operator& op, Ranges points) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction) points[d] = {0, 1};
  return points;
}

}  // namespace

Ranges written_by(const ir::Operator& op, const ir::Access& write, const Ranges& points) {
  return within(bounds_of(write, one_of_each_reduced(op, points)), cells_of(op.results[write.tensor].shape));
}

namespace {

// How many cells the points write, which no other points do; 0 if some of the points may be none of the operator's.
std::int64_t count_of(const ir::Operator& op, const ir::Access& write, const Ranges& points) {
  std::int64_t written = 1;
  for (std::int64_t extent : write.projection.shape) written = checked::mul(written, extent);
  for (std::size_t d = 0; d < points.size(); ++d)
    if (is_told_by(write, d)) written = checked::mul(written, points[d].hi - points[d].lo);
  bool all = std::ranges::all_of(op.constraints, [&](const ir::Constraint& c) {
    bool both = c.comparison == ir::Comparison::equal_zero;
    return !cuts_cells(op, c) || (least(c.expr, points) >= 0 && (!both || greatest(c.expr, points) <= 0));
  });
  return all ? written : 0;
}
std::int64_t size_of(const Ranges& box) {
  std::int64_t size = 1;
  for (ir::Range r : box) size = checked::mul(size, checked::sub(r.hi, r.lo));
  return size;
}

}  // namespace

bool leaves_no_gap(const ir::Operator& op, const ir::Access& write, const Ranges& points) {
  return count_of(op, write, points) >= size_of(bounds_of(write, points));
}

Ranges spread_of(const ir::Operator& op, const ir::Access& write, const Ranges& points) {
  Ranges spread;
  for (std::size_t d = 0; d < points.size(); ++d) {
    bool matters = is_told_by(write, d);
    for (const ir::Constraint& c : op.constraints) matters |= cuts_cells(op, c) && speaks_of(c.expr, d);
    if (matters) spread.push_back(points[d]);
  }
  return spread;
}

void add_written(const ir::Program& program, const Run& run, const ir::Access& write, const Ranges& all,
                 const Ranges& box, Contents& memory) {
  const ir::Operator& op = *run.side.op;
  const Class value = run.side.results[write.tensor];
  const auto& writers = (*run.writers)[run.side.operation->results[write.tensor].index()];
  const Ranges points = one_of_each_reduced(op, all), whole = cells_of(op.results[write.tensor].shape);
  if (memory.value != value) memory = {value};
  const Ranges cells = written_by(op, write, points), spread = spread_of(op, write, points);
  const bool dense = leaves_no_gap(op, write, points);
  if (dense) memory.cells.add(cells);
  if (dense && cells == box) return;
  memory.gaps |= !dense;
  Boxes& seen = memory.points[&write];
  std::size_t told = 0;
  for (std::size_t d = 0; d < points.size(); ++d) told += is_told_by(write, d);
  if (told == spread.size() && !seen.meet(spread))
    memory.count = checked::add(memory.count, count_of(op, write, points));
  seen.add(spread);
  if (!memory.gaps) return;
  if (memory.count == size_of(box)) return memory.cells.add(box);
  for (auto [id, result] : writers) {
    const ir::Operator& other = program[(*run.graph)[id].op];
    const Ranges space = one_of_each_reduced(other, space_of(other).box);
    if (is_idle(other, space)) continue;
    for (const ir::Access& by : other.writes) {
      auto wrote = memory.points.find(&by);
      bool there = by.tensor != result ||
                   (wrote != memory.points.end() && wrote->second.cover(spread_of(other, by, space)));
      if (!there) return;
    }
  }
  memory.cells.add(whole);
}

}  // namespace tap::check
