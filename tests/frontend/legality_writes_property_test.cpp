// Writes of random small operators against enumeration of every point: verdict and witness, with closed forms and by isl
// alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "compiler/frontend/proofs/legality.h"
#include "tests/frontend/legality_random.h"

namespace tap {
namespace {

using namespace testing;

struct Written {
  std::vector<ir::Operator> ops;
  Shape shape;
};

// Starts as a partition of one axis (or of a triangle), in one of several ways; then some numbers are changed.
Written random_partition() {
  Written w;
  std::int64_t n = number(1, 4), m = number(1, 4);
  auto add = [&](std::vector<ir::Range> dims, std::vector<ir::AffineExpr> start) {
    B b;
    for (ir::Range r : dims) b.parallel(r.lo, r.hi);
    b.write({}, start);
    w.ops.push_back(b.build());
  };
  switch (number(0, 4)) {
    case 0:  // concatenation, the second part reversed
      w.shape = {n + m};
      add({{0, n}}, {B::at({{0, 1}})});
      add({{0, m}}, {B::at({{0, -1}}, n + m - 1)});
      break;
    case 1:  // mixed radix, in either order
      w.shape = {n * m};
      add({{0, n}, {0, m}}, {number(0, 1) ? B::at({{0, m}, {1, 1}}) : B::at({{0, 1}, {1, n}})});
      break;
    case 2:  // interleaved
      w.shape = {n * m};
      for (std::int64_t r = 0; r < n; ++r) add({{0, m}}, {B::at({{0, n}}, r)});
      break;
    case 3:  // transposed or skewed
      w.shape = {m, n};
      add({{0, n}, {0, m}}, {B::at({{1, 1}}), B::at({{0, 1}})});
      break;
    default:  // two triangles
      w.shape = {n, n};
      add({{0, n}, {0, n}}, {B::at({{0, 1}}), B::at({{1, 1}})});
      add({{0, n}, {0, n}}, {B::at({{0, 1}}), B::at({{1, 1}})});
      w.ops[0].constraints = {{B::at({{0, 1}, {1, -1}}), ir::Comparison::at_least_zero}};
      w.ops[1].constraints = {{B::at({{0, -1}, {1, 1}}, -1), ir::Comparison::at_least_zero}};
  }
  return w;
}

void mutate(Written& w) {
  ir::Operator& op = w.ops[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(w.ops.size()) - 1))];
  auto& rows = op.writes[0].projection.start.rows;
  ir::AffineExpr& row = rows[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(rows.size()) - 1))];
  std::size_t d = static_cast<std::size_t>(number(0, static_cast<std::int64_t>(op.dims.size()) - 1));
  switch (number(0, 5)) {
    case 0: row.offset += number(-1, 1); break;
    case 1: row.coefficients[d] += number(-1, 1); break;
    case 2: op.dims[d].range.hi += number(-1, 1); break;
    case 3: op.dims[d].range.lo += number(-1, 1); break;
    case 4: w.shape[0] += number(-1, 1); break;
    default:
      op.constraints.push_back(
          {random_affine(static_cast<std::uint32_t>(op.dims.size())), ir::Comparison::at_least_zero});
  }
}

// Any dims, roles, coefficients and regions.
Written random_writers() {
  Written w;
  for (std::int64_t rank = number(0, 2); rank > 0; --rank) w.shape.push_back(number(0, 5));
  for (std::int64_t n = number(1, 2); n > 0; --n) {
    B b;
    std::uint32_t dims = static_cast<std::uint32_t>(number(0, 3));
    for (std::uint32_t d = 0; d < dims; ++d) {
      std::int64_t lo = number(-1, 1), hi = lo + number(0, 3);
      std::int64_t role = number(0, 5);
      if (role == 0 && d < 2) {
        b.counter(0, 2, d);  // one of each level
      } else if (role == 1) {
        b.reduction(lo, hi);
      } else {
        b.parallel(lo, hi);
      }
    }
    random_constraints(b, dims);
    std::vector<ir::AffineExpr> start;
    Shape region;
    for (std::size_t axis = 0; axis < w.shape.size(); ++axis) {
      start.push_back(random_affine(dims));
      region.push_back(number(0, 3) == 0 ? number(0, 3) : 1);
    }
    b.write({}, start, region);
    ir::Operator op = b.build();
    for (std::uint32_t d = 0; d < dims; ++d) {
      ir::AffineExpr none = ir::AffineExpr::constant(dims, 0);
      for (ir::AffineExpr& row : op.writes[0].projection.start.rows) {
        if (op.dims[d].role == ir::DimRole::reduction) row.coefficients[d] = 0;
      }
      bool used = false;
      for (ir::AffineExpr& row : op.writes[0].projection.start.rows) used = used || row.coefficients[d] != 0;
      bool may = op.dims[d].role == ir::DimRole::parallel && !used;
      if (may && number(0, 1)) op.writes[0].invariant_dims.push_back(d);
    }
    w.ops.push_back(op);
  }
  return w;
}

// The points that write: reduction dims at their begin, and the constraints that they take part in left out.
std::vector<Point> writing_points(const ir::Operator& op) {
  ir::Domain domain = op.domain();
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role != ir::DimRole::reduction) continue;
    domain.box.dims[d] = {op.dims[d].range.lo, op.dims[d].range.lo + 1};
    std::erase_if(domain.constraints, [&](const ir::Constraint& c) { return c.expr.coefficients[d] != 0; });
  }
  std::vector<Point> points;
  for (const Point& p : points_of(domain.box)) {
    if (domain.contains(p)) points.push_back(p);
  }
  return points;
}

using Trips = std::map<std::uint32_t, ir::Range>;
std::vector<std::map<std::uint32_t, std::int64_t>> all_trips(const Written& w) {
  Trips ranges;
  for (const ir::Operator& op : w.ops) {
    for (const ir::IndexDim& d : op.dims) {
      if (d.role == ir::DimRole::counter) ranges[d.level] = d.range;
    }
  }
  ir::Box box;
  for (auto& [level, range] : ranges) box.dims.push_back(range);
  std::vector<std::map<std::uint32_t, std::int64_t>> result;
  for (const Point& p : points_of(box)) {
    std::map<std::uint32_t, std::int64_t> trip;
    std::size_t k = 0;
    for (auto& [level, range] : ranges) trip[level] = p[k++];
    result.push_back(trip);
  }
  return result;
}
bool in_trip(const ir::Operator& op, const Point& p, const std::map<std::uint32_t, std::int64_t>& trip) {
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role == ir::DimRole::counter && trip.at(op.dims[d].level) != p[d]) return false;
  }
  return true;
}
// Which index point it is, as far as that matters for what it writes: without the invariant dims.
Point identity_of(const ir::Operator& op, Point p) {
  for (std::uint32_t d : op.writes[0].invariant_dims) p[d] = 0;
  return p;
}

enum class Fault { none, outside, twice, never };

Fault enumerate_writes(const Written& w, std::optional<Point>& cell) {
  ir::Box whole = ir::Box::of_shape(w.shape);
  for (const ir::Operator& op : w.ops) {
    for (const Point& p : writing_points(op)) {
      ir::Box image = op.writes[0].projection.image(p);
      if (!image.empty() && !whole.contains(image)) return Fault::outside;
    }
  }
  bool never = false;
  for (const auto& trip : all_trips(w)) {
    std::map<Point, std::set<std::pair<std::size_t, Point>>> by_cell;
    for (std::size_t k = 0; k < w.ops.size(); ++k) {
      for (const Point& p : writing_points(w.ops[k])) {
        if (!in_trip(w.ops[k], p, trip)) continue;
        for (const Point& c : points_of(w.ops[k].writes[0].projection.image(p))) {
          by_cell[c].insert({k, identity_of(w.ops[k], p)});
        }
      }
    }
    for (const auto& [c, by] : by_cell) {
      if (by.size() > 1) return Fault::twice;
    }
    for (const Point& c : points_of(whole)) {
      if (by_cell.count(c)) continue;
      if (!never || c < *cell) cell = c;
      never = true;
    }
  }
  return never ? Fault::never : Fault::none;
}

bool is_writing_point(const ir::Operator& op, const Point& p) {
  std::vector<Point> points = writing_points(op);
  return std::find(points.begin(), points.end(), p) != points.end();
}
bool in_one_trip(const ir::Operator& a, const Point& p, const ir::Operator& b, const Point& q) {
  for (std::size_t d = 0; d < a.dims.size(); ++d) {
    for (std::size_t e = 0; e < b.dims.size(); ++e) {
      bool same = a.dims[d].role == ir::DimRole::counter && b.dims[e].role == ir::DimRole::counter &&
                  a.dims[d].level == b.dims[e].level;
      if (same && p[d] != q[e]) return false;
    }
  }
  return true;
}

bool is_of_trip(const ir::Operator& op, const Point& p,
                const std::vector<std::pair<std::uint32_t, std::int64_t>>& trip) {
  for (auto [level, step] : trip)
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (op.dims[d].role == ir::DimRole::counter && op.dims[d].level == level && p[d] != step) return false;
  return true;
}

void expect_witness(const Written& w, const Violation& v, Fault fault, const std::optional<Point>& unwritten) {
  if (auto* bad = std::get_if<WriteOutside>(&v)) {
    RC_ASSERT(fault == Fault::outside);
    RC_ASSERT(is_writing_point(w.ops[bad->writer], bad->point));
    RC_ASSERT(w.ops[bad->writer].writes[0].projection.image(bad->point).contains(bad->cell));
    RC_ASSERT(!ir::Box::of_shape(w.shape).contains(bad->cell));
  } else if (auto* twice = std::get_if<WrittenTwice>(&v)) {
    RC_ASSERT(fault == Fault::twice);
    const ir::Operator &a = w.ops[twice->first], &b = w.ops[twice->second];
    RC_ASSERT(is_writing_point(a, twice->first_point) && is_writing_point(b, twice->second_point));
    RC_ASSERT(in_one_trip(a, twice->first_point, b, twice->second_point));
    RC_ASSERT(a.writes[0].projection.image(twice->first_point).contains(twice->cell));
    RC_ASSERT(b.writes[0].projection.image(twice->second_point).contains(twice->cell));
    bool same = twice->first == twice->second;
    RC_ASSERT(!same || identity_of(a, twice->first_point) != identity_of(b, twice->second_point));
  } else {
    RC_ASSERT(fault == Fault::never);
    const auto& hole = std::get<NeverWritten>(v);
    RC_ASSERT(hole.cell == *unwritten);
    for (const ir::Operator& op : w.ops)
      for (const Point& p : writing_points(op))
        if (is_of_trip(op, p, hole.trip)) RC_ASSERT(!op.writes[0].projection.image(p).contains(hole.cell));
  }
}

void judge(const Written& w) {
  std::optional<Point> unwritten;
  Fault fault = enumerate_writes(w, unwritten);
  constexpr const char* names[] = {"none", "outside", "twice", "never"};
  RC_TAG(names[static_cast<int>(fault)]);
  std::vector<Writer> writers;
  for (const ir::Operator& op : w.ops) writers.push_back({&op, 0});
  for (bool closed_forms : {true, false}) {
    std::optional<Violation> found = Legality({closed_forms}).check_writes(w.shape, writers);
    RC_ASSERT(found.has_value() == (fault != Fault::none));
    if (found) expect_witness(w, *found, fault, unwritten);
  }
  try {  // without any time for isl: by looking at every point, unless there are counters
    std::optional<Violation> found = Legality({false, 1}).check_writes(w.shape, writers);
    RC_ASSERT(found.has_value() == (fault != Fault::none));
    if (found) expect_witness(w, *found, fault, unwritten);
  } catch (const Undecided&) { RC_ASSERT(all_trips(w).size() > 1); }
}

RC_GTEST_PROP(LegalityProperty, PartitionsAndNearPartitionsAgreeWithEnumeration, ()) {
  Written w = random_partition();
  for (std::int64_t changes = number(0, 2); changes > 0; --changes) mutate(w);
  for (std::int64_t& n : w.shape) n = std::max<std::int64_t>(n, 0);
  judge(w);
}

RC_GTEST_PROP(LegalityProperty, RandomWritersAgreeWithEnumeration, ()) { judge(random_writers()); }

}  // namespace
}  // namespace tap
