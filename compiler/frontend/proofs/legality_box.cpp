#include "compiler/frontend/proofs/legality_box.h"

#include <algorithm>
#include <set>

#include "support/checked.h"

namespace tap {
namespace {

using ir::Box;
using ir::Range;

std::vector<std::uint32_t> kept_dims(const ir::Operator& op, const ir::Projection& projection) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    bool used = std::any_of(projection.start.rows.begin(), projection.start.rows.end(),
                            [&](const ir::AffineExpr& row) { return row.coefficients[d] != 0; });
    if (op.dims[d].role != ir::DimRole::reduction || used) kept.push_back(d);
  }
  return kept;
}

std::size_t variables_of(const ir::AffineExpr& e) {
  return static_cast<std::size_t>(
      std::count_if(e.coefficients.begin(), e.coefficients.end(), [](std::int64_t c) { return c != 0; }));
}

// The expression over the kept dims only; empty if it uses another.
std::optional<ir::AffineExpr> restricted(const ir::AffineExpr& e, const std::vector<std::uint32_t>& kept) {
  ir::AffineExpr result{{}, e.offset};
  std::size_t used = 0;
  for (std::uint32_t d : kept) {
    result.coefficients.push_back(e.coefficients[d]);
    used += e.coefficients[d] != 0;
  }
  return used == variables_of(e) ? std::optional(result) : std::nullopt;
}

// c*x + rest >= 0 for some value of rest up to `most`: narrows the range of x.
Range narrowed(Range x, std::int64_t c, std::int64_t most) {
  if (c > 0) {  // x >= ceil(-most / c)
    x.lo = std::max(x.lo, checked::sub(0, checked::floor_div(most, c)));
  } else {  // x <= floor(most / -c)
    x.hi = std::min(x.hi, checked::add(checked::floor_div(most, checked::sub(0, c)), 1));
  }
  return x;
}

void narrow(Box& box, const ir::AffineExpr& e) {
  for (std::size_t d = 0; d < box.rank(); ++d) {
    if (e.coefficients[d] == 0 || box.empty()) continue;
    ir::AffineExpr rest = e;
    rest.coefficients[d] = 0;
    box.dims[d] = narrowed(box.dims[d], e.coefficients[d], rest.bounds(box).hi - 1);
  }
}

// The cells of one writer: exactly those of `box`, each once; or none.
struct Tile {
  bool empty = false;
  Box box;
};

// Whether the row maps the dims that it uses bijectively to consecutive regions of `extent` cells. It does if the
// coefficients form a mixed radix: 4*i + j for j in 0..4, or n-1-i.
bool is_mixed_radix(const ir::AffineExpr& row, const Box& points, std::int64_t extent) {
  std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // coefficient, number of values
  for (std::size_t d = 0; d < points.rank(); ++d) {
    std::int64_t c = row.coefficients[d], n = points.dims[d].size();
    if (c != 0 && n > 1) digits.push_back({c < 0 ? checked::sub(0, c) : c, n});
  }
  std::sort(digits.begin(), digits.end());
  std::int64_t stride = extent;
  for (auto [c, n] : digits) {
    if (c != stride) return false;
    stride = checked::mul(stride, n);
  }
  return true;
}

// Whether each dim that distinguishes points (more than one value, not invariant) moves exactly one axis, and no others
// any.
bool each_dim_moves_one_axis(const WriteMap& writer, const Box& points) {
  for (std::size_t d = 0; d < points.rank(); ++d) {
    if (points.dims[d].size() <= 1) continue;
    auto axes = std::count_if(writer.projection.start.rows.begin(), writer.projection.start.rows.end(),
                              [&](const ir::AffineExpr& row) { return row.coefficients[d] != 0; });
    bool moves = writer.dims[d].role != ir::DimRole::counter && !writer.dims[d].invariant;
    if (axes != (moves ? 1 : 0)) return false;
  }
  return true;
}

// A constraint may restrict a writer to some trips of an iterate.
bool in_every_trip(const WriteMap& writer, const Box& points) {
  for (std::size_t d = 0; d < points.rank(); ++d) {
    if (writer.dims[d].role == ir::DimRole::counter && points.dims[d] != writer.domain.box.dims[d]) return false;
  }
  return true;
}

std::optional<Tile> tile_of(const WriteMap& writer) {
  std::optional<Box> points = tighten(writer.domain.box, writer.domain.constraints);
  bool is_box = std::all_of(writer.domain.constraints.begin(), writer.domain.constraints.end(),
                            [](const ir::Constraint& c) { return variables_of(c.expr) <= 1; });
  const Shape& region = writer.projection.shape;
  if (!points || std::count(region.begin(), region.end(), 0) != 0) return Tile{true, {}};
  if (!is_box || !in_every_trip(writer, *points) || !each_dim_moves_one_axis(writer, *points)) return std::nullopt;
  for (std::size_t axis = 0; axis < region.size(); ++axis) {
    if (!is_mixed_radix(writer.projection.start.rows[axis], *points, region[axis])) return std::nullopt;
  }
  return Tile{false, writer.projection.bounds(*points)};
}

// The axis along which the boxes have the most distinct starts.
std::size_t most_split_axis(const std::vector<Box>& boxes, std::size_t rank) {
  std::size_t best = 0, most = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::set<std::int64_t> begins;
    for (const Box& box : boxes) begins.insert(box.dims[axis].lo);
    if (begins.size() > most) best = axis, most = begins.size();
  }
  return best;
}

bool pairwise_disjoint(std::vector<Box> boxes, std::size_t rank) {
  if (rank == 0) return boxes.size() <= 1;
  std::size_t axis = most_split_axis(boxes, rank);
  std::sort(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) { return a.dims[axis].lo < b.dims[axis].lo; });
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size() && boxes[j].dims[axis].lo < boxes[i].dims[axis].hi; ++j) {
      if (!disjoint(boxes[i], boxes[j])) return false;
    }
  }
  return true;
}

bool tiles_exactly_unless_overflow(const Shape& shape, const std::vector<WriteMap>& writers) {
  Box whole = Box::of_shape(shape);
  std::vector<Box> boxes;
  for (const WriteMap& writer : writers) {
    std::optional<Tile> tile = tile_of(writer);
    if (!tile) return false;
    if (tile->empty) continue;
    if (!whole.contains(tile->box)) return false;
    boxes.push_back(std::move(tile->box));
  }
  if (boxes.size() == 1) return boxes[0] == whole;
  if (boxes.empty()) return whole.empty();
  std::int64_t covered = 0;
  for (const Box& box : boxes) covered = checked::add(covered, box.size());
  return covered == whole.size() && pairwise_disjoint(std::move(boxes), shape.size());
}

}  // namespace

WriteMap write_map(const ir::Operator& op, std::uint32_t write) {
  const ir::Access& access = op.writes[write];
  std::vector<std::uint32_t> kept = kept_dims(op, access.projection);
  WriteMap map;
  for (std::uint32_t d : kept) {
    bool invariant = std::count(access.invariant_dims.begin(), access.invariant_dims.end(), d) != 0;
    map.dims.push_back({d, op.dims[d].role, op.dims[d].level, invariant});
    map.domain.box.dims.push_back(op.dims[d].range);
  }
  for (const ir::Constraint& c : op.constraints) {
    if (auto e = restricted(c.expr, kept)) map.domain.constraints.push_back({std::move(*e), c.comparison});
  }
  map.projection = {{kept.size(), {}}, access.projection.shape};
  for (const ir::AffineExpr& row : access.projection.start.rows) {
    map.projection.start.rows.push_back(*restricted(row, kept));
  }
  return map;
}

WriteMap read_map(const ir::Operator& op, std::uint32_t read) {
  const ir::Access& access = op.reads[read];
  WriteMap map{{}, op.domain(), access.projection};
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) map.dims.push_back({d, op.dims[d].role, op.dims[d].level, false});
  for (std::size_t axis = 0; axis < access.projection.rank(); ++axis) {
    if (!checked_at_run_time(access, axis)) continue;
    map.projection.start.rows[axis] = ir::AffineExpr::constant(op.dims.size(), 0);
    map.projection.shape[axis] = op.operands[access.tensor].shape[axis];
  }
  return map;
}

std::optional<ir::Box> tighten(ir::Box box, const std::vector<ir::Constraint>& constraints) {
  if (box.empty()) return std::nullopt;
  for (const ir::Constraint& c : constraints) {
    bool equality = c.comparison == ir::Comparison::equal_zero;
    if (c.expr.is_constant() && (equality ? c.expr.offset != 0 : c.expr.offset < 0)) return std::nullopt;
    narrow(box, c.expr);
    if (equality) narrow(box, scale(c.expr, -1));
    if (box.empty()) return std::nullopt;
  }
  return box;
}

bool checked_at_run_time(const ir::Access& access, std::size_t axis) {
  return axis < access.coordinates.size() && access.coordinates[axis].has_value();
}

bool reads_inside(const ir::Access& access, const Shape& shape, const ir::Box& points) {
  const ir::Projection& projection = access.projection;
  bool inside = true;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (checked_at_run_time(access, axis)) continue;
    if (projection.shape[axis] == 0) return true;  // an empty region
    Range start = projection.start.rows[axis].bounds(points);
    inside = inside && start.lo >= 0 && checked::add(start.hi - 1, projection.shape[axis]) <= shape[axis];
  }
  return inside;
}

bool tiles_exactly(const Shape& shape, const std::vector<WriteMap>& writers) {
  try {
    return tiles_exactly_unless_overflow(shape, writers);
  } catch (const Overflow&) { return false; }
}

}  // namespace tap
