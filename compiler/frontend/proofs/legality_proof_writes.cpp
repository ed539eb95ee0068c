#include <algorithm>

#include "compiler/frontend/proofs/legality_proof.h"
#include "support/checked.h"

namespace tap {
namespace {

using ir::AffineExpr;

// The variables of a system are the dims of one or two writers, or counters and cells; maps an expression to them.
AffineExpr placed(const AffineExpr& e, std::size_t dims, std::size_t at) {
  AffineExpr result = AffineExpr::constant(dims, e.offset);
  std::copy(e.coefficients.begin(), e.coefficients.end(),
            result.coefficients.begin() + static_cast<std::ptrdiff_t>(at));
  return result;
}
void add_domain(System& system, const ir::Domain& domain, std::size_t at) {
  for (std::size_t d = 0; d < domain.box.rank(); ++d) system.inside(at + d, domain.box.dims[d]);
  for (const ir::Constraint& c : domain.constraints) {
    system.constraints.push_back({placed(c.expr, system.dims, at), c.comparison});
  }
}
AffineExpr difference(std::size_t dims, std::size_t a, std::size_t b) {
  return AffineExpr::variable(dims, a) - AffineExpr::variable(dims, b);
}

bool is_empty_write(const WriteMap& map) {
  return map.domain.box.empty() || std::count(map.projection.shape.begin(), map.projection.shape.end(), 0) != 0;
}

std::optional<Violation> find_write_outside(const IntegerSets& sets, const Shape& shape, const Writer& writer,
                                            const WriteMap& map, std::uint32_t number) {
  std::size_t dims = map.dims.size();
  std::optional<ir::Point> best;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    for (bool below : {true, false}) {
      System system{dims, {}};
      add_domain(system, map.domain, 0);
      const AffineExpr& start = map.projection.start.rows[axis];
      if (below) system.at_most(start, -1);
      if (!below) system.at_least(start, checked::add(checked::sub(shape[axis], map.projection.shape[axis]), 1));
      std::optional<ir::Point> point = sets.of(system).lexmin();
      if (point && (!best || *point < *best)) best = std::move(point);
    }
  }
  if (!best) return std::nullopt;
  ir::Point cell = map.projection.start(*best);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bool beyond = checked::add(cell[axis], map.projection.shape[axis]) > shape[axis];
    if (cell[axis] >= 0 && beyond) cell[axis] = std::max(cell[axis], shape[axis]);
  }
  return WriteOutside{number, whole_point(writer, map, *best), cell};
}

// The pairs of points (p, q) of the two writers, in the same trip of every common iterate, whose regions overlap.
System meeting_pairs(const WriteMap& a, const WriteMap& b) {
  std::size_t n = a.dims.size();
  System system{n + b.dims.size(), {}};
  add_domain(system, a.domain, 0);
  add_domain(system, b.domain, n);
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t q = 0; q < b.dims.size(); ++q) {
      bool counters = a.dims[p].role == ir::DimRole::counter && b.dims[q].role == ir::DimRole::counter;
      if (counters && a.dims[p].level == b.dims[q].level) system.equal(difference(system.dims, p, n + q), 0);
    }
  }
  for (std::size_t axis = 0; axis < a.projection.rank(); ++axis) {
    AffineExpr offset =
        placed(b.projection.start.rows[axis], system.dims, n) - placed(a.projection.start.rows[axis], system.dims, 0);
    std::int64_t extent_a = a.projection.shape[axis], extent_b = b.projection.shape[axis];
    if (extent_a == 1 && extent_b == 1) {
      system.equal(offset, 0);
    } else {
      system.at_most(offset, extent_a - 1);
      system.at_least(offset, 1 - extent_b);
    }
  }
  return system;
}

bool distinguishes_points(const WriteDim& dim) { return dim.role != ir::DimRole::counter && !dim.invariant; }

// Two different points of one writer: p precedes q in the order of the dims that distinguish points.
std::optional<ir::Point> smallest_pair_within(const IntegerSets& sets, const WriteMap& map) {
  std::size_t n = map.dims.size();
  System meeting = meeting_pairs(map, map);
  std::optional<ir::Point> best;
  for (std::size_t d = 0; d < n; ++d) {
    if (!distinguishes_points(map.dims[d])) continue;
    System system = meeting;
    system.at_least(difference(system.dims, n + d, d), 1);
    std::optional<ir::Point> pair = sets.of(system).lexmin();
    if (pair && (!best || *pair < *best)) best = std::move(pair);
    meeting.equal(difference(system.dims, n + d, d), 0);
  }
  return best;
}

// The differences q - p of two points of a box whose regions overlap: half as many variables as pairs.
System meeting_differences(const WriteMap& map) {
  System system{map.dims.size(), {}};
  for (std::size_t d = 0; d < system.dims; ++d) {
    std::int64_t n = distinguishes_points(map.dims[d]) ? map.domain.box.dims[d].size() : 1;
    system.inside(d, {1 - n, n});
  }
  for (std::size_t axis = 0; axis < map.projection.rank(); ++axis) {
    AffineExpr distance = map.projection.start.rows[axis];
    distance.offset = 0;
    std::int64_t extent = map.projection.shape[axis];
    if (extent == 1) {
      system.equal(distance, 0);
    } else {
      system.at_most(distance, extent - 1);
      system.at_least(distance, 1 - extent);
    }
  }
  return system;
}

// The pair with the smallest nonzero difference, at the first position of the box where it fits.
std::optional<ir::Point> closest_pair_within_box(const IntegerSets& sets, const WriteMap& map) {
  std::size_t n = map.dims.size();
  System meeting = meeting_differences(map);
  for (std::size_t leading = n; leading-- > 0;) {  // the first nonzero difference
    if (!distinguishes_points(map.dims[leading])) continue;
    System system = meeting;
    for (std::size_t d = 0; d < leading; ++d) system.equal(AffineExpr::variable(n, d), 0);
    system.at_least(AffineExpr::variable(n, leading), 1);
    std::optional<ir::Point> step = sets.of(system).lexmin();
    if (!step) continue;
    ir::Point pair;
    for (std::size_t d = 0; d < n; ++d)
      pair.push_back(map.domain.box.dims[d].lo + std::max<std::int64_t>(0, -(*step)[d]));
    for (std::size_t d = 0; d < n; ++d) pair.push_back(pair[d] + (*step)[d]);
    return pair;
  }
  return std::nullopt;
}

std::optional<ir::Point> find_pair(const IntegerSets& sets, const WriteMap& a, const WriteMap& b, bool same_writer) {
  if (!same_writer) return sets.of(meeting_pairs(a, b)).lexmin();
  return a.domain.constraints.empty() ? closest_pair_within_box(sets, a) : smallest_pair_within(sets, a);
}

WrittenTwice written_twice(const std::vector<Writer>& writers, const std::vector<WriteMap>& maps, std::uint32_t first,
                           std::uint32_t second, const ir::Point& pair) {
  std::size_t n = maps[first].dims.size();
  ir::Point p(pair.begin(), pair.begin() + static_cast<std::ptrdiff_t>(n));
  ir::Point q(pair.begin() + static_cast<std::ptrdiff_t>(n), pair.end());
  ir::Box both = intersect(maps[first].projection.image(p), maps[second].projection.image(q));
  return {first, second, whole_point(writers[first], maps[first], p), whole_point(writers[second], maps[second], q),
          *first_point(both)};
}

std::optional<Violation> find_written_twice(const IntegerSets& sets, const std::vector<Writer>& writers,
                                            const std::vector<WriteMap>& maps) {
  std::vector<ir::Box> around;
  for (const WriteMap& map : maps) around.push_back(map.projection.bounds(map.domain.box));
  for (std::uint32_t a = 0; a < maps.size(); ++a) {
    if (is_empty_write(maps[a])) continue;
    for (std::uint32_t b = a; b < maps.size(); ++b) {
      if (is_empty_write(maps[b]) || disjoint(around[a], around[b])) continue;
      if (auto pair = find_pair(sets, maps[a], maps[b], a == b)) return written_twice(writers, maps, a, b, *pair);
    }
  }
  return std::nullopt;
}

// Provided that no cell is written twice or out of bounds: whether the number of written cells is that of the shape.
bool counts_to_whole(const Shape& shape, const std::vector<WriteMap>& maps) {
  try {
    std::int64_t covered = 0;
    for (const WriteMap& map : maps) {
      if (is_empty_write(map)) continue;
      if (!map.domain.constraints.empty()) return false;
      std::int64_t cells = element_count(map.projection.shape);
      for (std::size_t d = 0; d < map.dims.size(); ++d) {
        if (distinguishes_points(map.dims[d])) cells = checked::mul(cells, map.domain.box.dims[d].size());
      }
      covered = checked::add(covered, cells);
    }
    return covered == element_count(shape);
  } catch (const Overflow&) { return false; }
}

// Counters by level, with their trips.
std::vector<std::pair<std::uint32_t, ir::Range>> counters_of(const std::vector<WriteMap>& maps) {
  std::vector<std::pair<std::uint32_t, ir::Range>> counters;
  for (const WriteMap& map : maps) {
    for (std::size_t d = 0; d < map.dims.size(); ++d) {
      if (map.dims[d].role != ir::DimRole::counter) continue;
      std::pair counter(map.dims[d].level, map.domain.box.dims[d]);
      if (std::count(counters.begin(), counters.end(), counter) == 0) counters.push_back(counter);
    }
  }
  return counters;
}

// The pairs (counter values, cell) of one writer. The variables are, in order: counters, cell, the writer's dims.
IntegerSet written_cells(const IntegerSets& sets, const WriteMap& map,
                         const std::vector<std::pair<std::uint32_t, ir::Range>>& counters) {
  std::size_t rank = map.projection.rank(), at = counters.size() + rank;
  System system{at + map.dims.size(), {}};
  add_domain(system, map.domain, at);
  for (std::size_t d = 0; d < map.dims.size(); ++d) {
    for (std::size_t c = 0; c < counters.size(); ++c) {
      bool same = map.dims[d].role == ir::DimRole::counter && map.dims[d].level == counters[c].first;
      if (same) system.equal(difference(system.dims, c, at + d), 0);
    }
  }
  for (std::size_t axis = 0; axis < rank; ++axis) {
    AffineExpr into = AffineExpr::variable(system.dims, counters.size() + axis) -
                      placed(map.projection.start.rows[axis], system.dims, at);
    system.at_least(into, 0);
    system.at_most(into, map.projection.shape[axis] - 1);
  }
  return sets.of(system).project_out(at, map.dims.size());
}

bool writes_cell(const IntegerSets& sets, const WriteMap& map, const ir::Point& cell) {
  if (is_empty_write(map)) return false;
  System system{map.dims.size(), {}};
  add_domain(system, map.domain, 0);
  for (std::size_t axis = 0; axis < cell.size(); ++axis) {
    const AffineExpr& start = map.projection.start.rows[axis];
    system.at_most(start, cell[axis]);
    system.at_least(start, checked::sub(cell[axis], map.projection.shape[axis] - 1));
  }
  return !sets.of(system).is_empty();
}

// One of the first cells that is never written. With irregular coefficients most cells are never written, and the
// difference of sets below is slow.
std::optional<ir::Point> early_hole(const IntegerSets& sets, const Shape& shape, const std::vector<WriteMap>& maps) {
  ir::Box whole = ir::Box::of_shape(shape);
  auto cell = first_point(whole);
  for (int tried = 0; cell && tried < 16; ++tried) {
    bool written =
        std::any_of(maps.begin(), maps.end(), [&](const WriteMap& m) { return writes_cell(sets, m, *cell); });
    if (!written) return cell;
    if (!next_point(whole, *cell)) break;
  }
  return std::nullopt;
}

// All cells, for all values of the counters.
System whole_of(const Shape& shape, const std::vector<std::pair<std::uint32_t, ir::Range>>& counters) {
  System whole{counters.size() + shape.size(), {}};
  for (std::size_t c = 0; c < counters.size(); ++c) whole.inside(c, counters[c].second);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) whole.inside(counters.size() + axis, {0, shape[axis]});
  return whole;
}

std::optional<Violation> find_never_written(const IntegerSets& sets, const Shape& shape,
                                            const std::vector<WriteMap>& maps) {
  auto counters = counters_of(maps);
  if (counters.empty()) {
    if (auto cell = early_hole(sets, shape, maps)) return NeverWritten{*cell};
  }
  const System whole = whole_of(shape, counters);
  IntegerSet missing = sets.of(whole);
  for (const WriteMap& map : maps) {
    if (!is_empty_write(map)) missing = missing.subtract(written_cells(sets, map, counters));
  }
  std::optional<ir::Point> cell = missing.project_out(0, counters.size()).lexmin();
  if (!cell) return std::nullopt;
  NeverWritten result{*cell};
  if (counters.empty()) return result;
  System at_cell{whole.dims, {}};
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    at_cell.equal(AffineExpr::variable(whole.dims, counters.size() + axis), (*cell)[axis]);
  ir::Point first = *missing.intersect(sets.of(at_cell)).lexmin();
  for (std::size_t c = 0; c < counters.size(); ++c) result.trip.emplace_back(counters[c].first, first[c]);
  return result;
}

}  // namespace

ir::Point whole_point(const Writer& writer, const WriteMap& map, const ir::Point& point) {
  ir::Point whole;
  for (const ir::IndexDim& dim : writer.op->dims) whole.push_back(dim.range.lo);
  for (std::size_t d = 0; d < map.dims.size(); ++d) whole[map.dims[d].dim] = point[d];
  return whole;
}

std::optional<Violation> find_write_violation(const IntegerSets& sets, const Shape& shape,
                                              const std::vector<Writer>& writers, const std::vector<WriteMap>& maps) {
  for (std::uint32_t w = 0; w < maps.size(); ++w) {
    if (is_empty_write(maps[w])) continue;
    if (auto violation = find_write_outside(sets, shape, writers[w], maps[w], w)) return violation;
  }
  if (auto violation = find_written_twice(sets, writers, maps)) return violation;
  if (counts_to_whole(shape, maps)) return std::nullopt;
  return find_never_written(sets, shape, maps);
}

std::optional<ir::Point> find_unwritten_read(const IntegerSets& sets, const Shape& shape,
                                             const std::vector<WriteMap>& writes, const std::vector<WriteMap>& reads) {
  std::vector<WriteMap> all = writes;
  all.insert(all.end(), reads.begin(), reads.end());
  const auto counters = counters_of(all);
  const IntegerSet whole = sets.of(whole_of(shape, counters));
  IntegerSet missing = sets.none(counters.size() + shape.size());
  for (const WriteMap& read : reads)
    if (!is_empty_write(read)) missing = missing.unite(written_cells(sets, read, counters).intersect(whole));
  for (const WriteMap& write : writes)
    if (!is_empty_write(write)) missing = missing.subtract(written_cells(sets, write, counters));
  return missing.project_out(0, counters.size()).lexmin();
}

}  // namespace tap
