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

bool restricts_cells(const ir::Operator& op, const ir::Constraint& c) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction && uses_dim(c.expr, d)) return false;
  return true;
}

std::vector<std::size_t> relevant_dims(const ir::Operator& op, const ir::Access& write) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    bool matters = is_indexed_by(write, d);
    for (const ir::Constraint& c : op.constraints) matters |= restricts_cells(op, c) && uses_dim(c.expr, d);
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
    return !restricts_cells(op, c) || (least(c.expr, reach) >= 0 && (!both || greatest(c.expr, reach) <= 0));
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

Box Points::seen_from(const Box& members, Box all) const {
  for (std::size_t k = 0; pace_ && k < members.rank(); ++k)
    for (std::size_t d = 0; d < all.rank(); ++d) {
      const std::int64_t first = checked::mul((*pace_)[k][d], members.dims[k].lo),
                         last = checked::mul((*pace_)[k][d], members.dims[k].hi - 1);
      all.dims[d] = {checked::sub(all.dims[d].lo, std::max(first, last)),
                     checked::sub(all.dims[d].hi, std::min(first, last))};
    }
  return all;
}

void Points::add(const Box& members, const Wrote& more) {
  seen_.add(*relative_to(members, more));
  if (!pace_) pace_ = more.pace;
}

namespace {

// Whether `holds` is true for each of the members, relative to its own box.
bool every_member(const Box& members, const auto& holds, Box one = {}) {
  if (one.rank() == members.rank()) return holds(one);
  const ir::Range all = members.dims[one.rank()];
  one.dims.emplace_back();
  for (std::int64_t i = all.lo; i < all.hi; ++i) {
    one.dims.back() = {i, i + 1};
    if (!every_member(members, holds, one)) return false;
  }
  return true;
}

Box of_dims(const Box& points, const std::vector<std::size_t>& dims) {
  Box selected;
  for (std::size_t d : dims) selected.dims.push_back(points.dims[d]);
  return selected;
}

// Whether each member requests the cells of the first, relative to it. Points that move evenly are clipped at an
// edge of the operator only if they are clipped at one of the corners.
bool is_uniform(const ir::Operator& op, const ir::Access& by, const ir::Row& row, const Box& members,
                const Points& wrote, const auto& points_of) {
  if (!op.constraints.empty() || members.empty() || members.rank() > 8) return false;  // too many corners to look at
  for (const ir::Level& level : row)
    if (!moves_evenly(by.projection.start.rows, level.steps)) return false;
  auto requested = [&](std::size_t corner) {
    Box member = members;
    for (std::size_t k = 0; k < member.rank(); ++k)
      (corner >> k & 1 ? member.dims[k].lo : member.dims[k].hi) +=
          (corner >> k & 1 ? 1 : -1) * (member.dims[k].size() - 1);
    const Box points = points_of(member);
    return points.empty() ? std::nullopt
                          : std::optional(wrote.seen_from(member, of_dims(points, relevant_dims(op, by))));
  };
  for (std::size_t corner = 0; corner < std::size_t{1} << members.rank(); ++corner)
    if (!requested(corner) || requested(corner) != requested(0)) return false;
  return true;
}

// Whether all points of the value's writers that write into this box of each member have run on them. `box` is the first
// member's; those of others are further on by the row's steps.
bool all_wrote(const ir::Program& program, const Run& run, std::uint32_t result, const ir::Row& row, const Box& box,
               const Box& members, const Contents& memory) {
  for (auto [id, written] : (*run.writers)[run.side.operation->results[result].index()]) {
    const ir::Operator& op = program[(*run.graph)[id].op];
    const Box space = one_of_each_reduced(op, {box_of(op)});
    for (const ir::Access& by : op.writes) {
      if (by.tensor != written || is_idle(op, space)) continue;
      const std::vector<std::size_t> matter = relevant_dims(op, by);
      auto wrote = memory.points.find(&by);
      auto points_of = [&](const Box& member) {
        Box cells = box;
        for (std::size_t k = 0; k < member.rank(); ++k)
          for (std::size_t d = 0; d < cells.rank(); ++d) {
            const std::int64_t by_row = checked::mul(row[k].steps[d], member.dims[k].lo);
            cells.dims[d] = {checked::add(cells.dims[d].lo, by_row), checked::add(cells.dims[d].hi, by_row)};
          }
        return preimage_of_write(op, by, intersect(cells, Box::of_shape(op.results[by.tensor].shape)));
      };
      auto lacks_none = [&](const Box& member) {
        const Box points = points_of(member);
        return points.empty() ||
               (wrote != memory.points.end() && wrote->second.covers(member, of_dims(points, matter)));
      };
      if (wrote != memory.points.end() && wrote->second.covers(members, of_dims(space, matter))) continue;
      Box representatives = members;  // one, if the others are like it
      if (wrote != memory.points.end() && is_uniform(op, by, row, members, wrote->second, points_of))
        for (ir::Range& r : representatives.dims) r.hi = r.lo + 1;
      if (!every_member(representatives, lacks_none)) return false;
    }
  }
  return true;
}

}  // namespace

void add_written(const ir::Program& program, const Run& run, const WrittenCells& more, const ir::Buffer& buffer,
                 const Box& tensor, const Box& members, Contents& memory) {
  const ir::Access& by = *more.wrote.by;
  if (const Class value = run.side.results[by.tensor]; memory.value != value) memory = {value};
  if (more.dense) memory.cells.add(more.cells);
  if (more.dense && more.cells == buffer.box) return;
  memory.gaps |= !more.dense;
  Points& seen = memory.points[&by];
  std::size_t indexed_dims = 0;
  for (std::size_t d = 0; d < run.side.op->dims.size(); ++d) indexed_dims += is_indexed_by(by, d);
  if (indexed_dims == more.wrote.points.rank() && !seen.meets(members, more.wrote))
    memory.count = checked::add(memory.count, more.count);
  seen.add(members, more.wrote);
  Box& box = memory.hull ? *memory.hull : memory.hull.emplace(more.cells);
  for (std::size_t d = 0; d < box.rank(); ++d)
    box.dims[d] = {std::min(box.dims[d].lo, more.cells.dims[d].lo), std::max(box.dims[d].hi, more.cells.dims[d].hi)};
  if (!memory.gaps) return;
  if (memory.count == box.size()) memory.cells.add(box);
  else if (all_wrote(program, run, by.tensor, buffer.row, box, members, memory))
    memory.cells.add(intersect(box, tensor));
}

}  // namespace tap::check
