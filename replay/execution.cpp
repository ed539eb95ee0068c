#include "replay/execution.h"

#include <algorithm>

namespace tap::check {

bool is_idle(const ir::Operator& op, const Box& points) {
  for (std::size_t d = 0; d < points.rank(); ++d)
    if (op.dims[d].role == ir::DimRole::parallel && points.dims[d].empty()) return true;
  return false;
}
bool is_whole(const ir::Operator& op) { return op.region() && op.region()->kind != ir::RegionKind::group; }

bool is_indexed_by(const ir::Access& access, std::size_t dim) {
  return std::ranges::any_of(access.projection.start.rows, [dim](auto& row) { return uses_dim(row, dim); });
}

bool cuts_cells(const ir::Operator& op, const ir::Constraint& c) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction && uses_dim(c.expr, d)) return false;
  return true;
}

std::vector<std::size_t> relevant_dims(const ir::Operator& op, const ir::Access& write) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    bool matters = is_indexed_by(write, d);
    for (const ir::Constraint& c : op.constraints) matters |= cuts_cells(op, c) && uses_dim(c.expr, d);
    if (matters) dims.push_back(d);
  }
  return dims;
}

std::int64_t count_of(const ir::Operator& op, const ir::Access& write, const Box& points, const Box& reach) {
  std::int64_t written = 1;
  for (std::int64_t extent : write.projection.shape) written = checked::mul(written, extent);
  for (std::size_t d = 0; d < points.rank(); ++d)
    if (is_indexed_by(write, d)) written = checked::mul(written, points.dims[d].size());
  bool all = std::ranges::all_of(op.constraints, [&](const ir::Constraint& c) {
    bool both = c.comparison == ir::Comparison::equal_zero;
    return !cuts_cells(op, c) || (least(c.expr, reach) >= 0 && (!both || greatest(c.expr, reach) <= 0));
  });
  return all ? written : 0;
}

Box one_of_each_reduced(const ir::Operator& op, Box points) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction) points.dims[d] = {0, 1};
  return points;
}

std::optional<Box> Points::relative_to(const Box& members, const Wrote& more) const {
  Box points = more.points;
  for (std::size_t k = 0; pace_ && k < members.rank(); ++k) {
    const auto &mine = (*pace_)[k], &other = more.pace[k];
    if (mine == other) continue;
    if (members.dims[k].size() != 1) return std::nullopt;
    for (std::size_t d = 0; d < points.rank(); ++d) {
      const std::int64_t by = checked::mul(checked::sub(other[d], mine[d]), members.dims[k].lo);
      points.dims[d] = {checked::add(points.dims[d].lo, by), checked::add(points.dims[d].hi, by)};
    }
  }
  return points;
}

bool Points::covers(const Box& members, Box all) const {
  for (std::size_t k = 0; pace_ && k < members.rank(); ++k)
    for (std::size_t d = 0; d < all.rank(); ++d) {
      const std::int64_t first = checked::mul((*pace_)[k][d], members.dims[k].lo),
                         last = checked::mul((*pace_)[k][d], members.dims[k].hi - 1);
      all.dims[d] = {checked::sub(all.dims[d].lo, std::max(first, last)),
                     checked::sub(all.dims[d].hi, std::min(first, last))};
    }
  return seen_.covers(all);
}

void Points::add(const Box& members, const Wrote& more) {
  seen_.add(*relative_to(members, more));
  if (!pace_) pace_ = more.pace;
}

namespace {

// Whether `holds` is true for each of the members, relative to its own box.
template <class Holds>
bool every_member(const Box& members, const Holds& holds, Box one = {}) {
  if (one.rank() == members.rank()) return holds(one);
  const ir::Range all = members.dims[one.rank()];
  one.dims.emplace_back();
  for (std::int64_t i = all.lo; i < all.hi; ++i) {
    one.dims.back() = {i, i + 1};
    if (!every_member(members, holds, one)) return false;
  }
  return true;
}

// By how much the points whose writes meet a member's cells move, in each dim, when the cells move by `steps`. Nothing if they do
// not move exactly so at every member: each axis that moves must be determined by one dim, whose coefficient divides the step.
std::optional<std::vector<std::int64_t>> move_of_points(const ir::Operator& op, const ir::Access& by,
                                                        const std::vector<std::int64_t>& steps) {
  if (!op.constraints.empty()) return {};
  std::vector<std::optional<std::int64_t>> moves(op.dims.size());
  for (std::size_t axis = 0; axis < by.projection.start.rows.size(); ++axis) {
    const std::vector<std::int64_t>& row = by.projection.start.rows[axis].coefficients;
    const std::size_t dims = row.size() - static_cast<std::size_t>(std::ranges::count(row, 0));
    if (steps[axis] != 0 && dims != 1) return {};
    for (std::size_t d = 0; d < row.size(); ++d) {
      if (row[d] == 0) continue;
      if (steps[axis] % row[d] != 0 || moves[d].value_or(steps[axis] / row[d]) != steps[axis] / row[d]) return {};
      moves[d] = steps[axis] / row[d];
    }
  }
  std::vector<std::int64_t> all;
  for (const auto& move : moves) all.push_back(move.value_or(0));
  return all;
}

// Whether what is asked of each member is what is asked of the first, moved as the members' points are: `points_of` gives the
// box of points of a member. Between two ends that are moved exactly so, nothing is cut off at the operator's edges.
template <class PointsOf>
bool move_alike(const ir::Operator& op, const ir::Access& by, const std::vector<std::size_t>& matter,
                const ir::Buffer& buffer, const Box& members, const Points& wrote, const PointsOf& points_of) {
  std::vector<std::vector<std::int64_t>> all, relevant;
  for (std::size_t k = 0; k < members.rank(); ++k) {
    const auto& steps = buffer.row[k].steps;
    const std::size_t axes = by.projection.start.rows.size();
    if (steps.size() < axes) return false;
    auto moves = move_of_points(op, by, {steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(axes)});
    if (!moves) return false;
    relevant.emplace_back();
    for (std::size_t d : matter) relevant.back().push_back((*moves)[d]);
    all.push_back(std::move(*moves));
  }
  if (!wrote.move_by(relevant)) return false;
  Box first = members;
  for (ir::Range& r : first.dims) r.hi = r.lo + 1;
  const Box points = points_of(first);
  if (points.empty()) return false;
  for (std::size_t corner = 1; corner < std::size_t{1} << members.rank(); ++corner) {
    Box member = first, moved = points;
    for (std::size_t k = 0; k < members.rank(); ++k) {
      if ((corner >> k & 1) == 0) continue;
      const std::int64_t count = members.dims[k].size() - 1;
      member.dims[k] = {members.dims[k].hi - 1, members.dims[k].hi};
      for (std::size_t d = 0; d < moved.rank(); ++d) {
        const std::int64_t by_row = checked::mul(all[k][d], count);
        moved.dims[d] = {checked::add(moved.dims[d].lo, by_row), checked::add(moved.dims[d].hi, by_row)};
      }
    }
    if (points_of(member) != moved) return false;
  }
  return true;
}

// Whether all points of the value's writers that write into the members' boxes have run on them. `box` is the first
// member's; the others are further on by the row's steps.
bool all_wrote(const ir::Program& program, const Run& run, std::uint32_t result, const ir::Buffer& buffer,
               const Box& members, const Contents& memory) {
  for (auto [id, written] : (*run.writers)[run.side.operation->results[result].index()]) {
    const ir::Operator& op = program[(*run.graph)[id].op];
    const Box space = one_of_each_reduced(op, {box_of(op)});
    for (const ir::Access& by : op.writes) {
      if (by.tensor != written || is_idle(op, space)) continue;
      const std::vector<std::size_t> matter = relevant_dims(op, by);
      auto wrote = memory.points.find(&by);
      auto covers = [&](const Box& some, const Box& points) {
        Box all;
        for (std::size_t d : matter) all.dims.push_back(points.dims[d]);
        return wrote != memory.points.end() && wrote->second.covers(some, all);
      };
      auto points_of = [&](const Box& member) {
        Box cells = buffer.box;
        for (std::size_t k = 0; k < member.rank(); ++k)
          for (std::size_t d = 0; d < cells.rank(); ++d) {
            const std::int64_t by_row = checked::mul(buffer.row[k].steps[d], member.dims[k].lo);
            cells.dims[d] = {checked::add(cells.dims[d].lo, by_row), checked::add(cells.dims[d].hi, by_row)};
          }
        return preimage_of_write(op, by, intersect(cells, Box::of_shape(op.results[by.tensor].shape)));
      };
      auto lacks_none = [&](const Box& member) {
        const Box points = points_of(member);
        return points.empty() || covers(member, points);
      };
      if (covers(members, space)) continue;
      Box asked = members;  // one, if the others are like it
      if (wrote != memory.points.end() && members.rank() < 16 && !members.empty() &&
          move_alike(op, by, matter, buffer, members, wrote->second, points_of))
        for (ir::Range& r : asked.dims) r.hi = r.lo + 1;
      if (!every_member(asked, lacks_none)) return false;
    }
  }
  return true;
}

}  // namespace

void add_written(const ir::Program& program, const Run& run, const WrittenCells& more, const ir::Buffer& buffer,
                 const Box& tensor, const Box& members, Contents& memory) {
  const Box& box = buffer.box;
  const ir::Access& by = *more.wrote.by;
  const Class value = run.side.results[by.tensor];
  if (memory.value != value) memory = {value};
  if (more.dense) memory.cells.add(more.cells);
  if (more.dense && more.cells == box) return;
  memory.gaps |= !more.dense;
  Points& seen = memory.points[&by];
  std::size_t told = 0;
  for (std::size_t d = 0; d < run.side.op->dims.size(); ++d) told += is_indexed_by(by, d);
  if (told == more.wrote.points.rank() && !seen.meets(members, more.wrote))
    memory.count = checked::add(memory.count, more.count);
  seen.add(members, more.wrote);
  if (!memory.gaps) return;
  if (memory.count == box.size()) memory.cells.add(box);
  else if (all_wrote(program, run, by.tensor, buffer, members, memory)) memory.cells.add(intersect(box, tensor));
}

}  // namespace tap::check
