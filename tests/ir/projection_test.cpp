// Boxes, affine maps and projections: the hand cases, then properties against brute force.
#include "ir/projection.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/checked.h"

namespace tap::ir {
namespace {

constexpr std::int64_t int_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t int_min = std::numeric_limits<std::int64_t>::min();

// One axis, one dim: stride * i + offset, a window of `window`.
Box window(std::int64_t stride, std::int64_t offset, std::int64_t extent, Range points) {
  return Projection{{1, {AffineExpr{{stride}, offset}}}, {extent}}.bounds(Box{{points}});
}
Box one(std::int64_t lo, std::int64_t hi) { return Box{{{lo, hi}}}; }

TEST(Box, SizeOfAnEmptyBoxIsZero) {
  Box b{{{0, 0}, {int_min, int_max}, {int_min, int_max}}};
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(b.size(), 0);
}

TEST(Box, SizeIsChecked) {
  EXPECT_THROW((Box{{{0, int_max}, {0, 2}}}.size()), Overflow);
  EXPECT_THROW((Range{int_min, int_max}.size()), Overflow);
}

TEST(Box, RankZeroHasOnePoint) {
  Box b;
  EXPECT_FALSE(b.empty());
  EXPECT_EQ(b.size(), 1);
  auto p = first_point(b);
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->empty());
  EXPECT_FALSE(next_point(b, *p));
}

TEST(Box, PointsComeRowMajor) {
  Box b{{{1, 3}, {-1, 1}}};
  std::vector<Point> seen;
  auto p = first_point(b);
  do seen.push_back(*p);
  while (next_point(b, *p));
  EXPECT_EQ(seen, (std::vector<Point>{{1, -1}, {1, 0}, {2, -1}, {2, 0}}));
  EXPECT_FALSE(first_point(Box{{{0, 2}, {4, 4}}}));
}

TEST(Box, Prints) {
  EXPECT_EQ(to_string(Box{{{0, 4}, {-2, 5}}}), "[0..4, -2..5]");
  EXPECT_EQ(to_string(Box{}), "[]");
}

TEST(Projection, MixedSignsDoNotProjectCornerwise) {
  Projection p{{2, {AffineExpr{{1, -1}, 0}}}, {1}};
  EXPECT_EQ(p.bounds(Box{{{0, 4}, {0, 4}}}), one(-3, 4));
}

TEST(Projection, WindowsOfShards) {
  EXPECT_EQ(window(1, 0, 3, {0, 4}), one(0, 6));
  EXPECT_EQ(window(1, 0, 3, {4, 8}), one(4, 10));
  EXPECT_EQ(intersect(window(1, 0, 3, {0, 4}), window(1, 0, 3, {4, 8})).size(), 2);
  EXPECT_EQ(window(2, 0, 3, {0, 3}), one(0, 7));
  EXPECT_EQ(window(2, 0, 3, {3, 6}), one(6, 13));
  EXPECT_EQ(window(2, 0, 3, {6, 8}), one(12, 17));
}

TEST(Projection, StrideBeyondTheWindowLeavesGaps) {
  EXPECT_EQ(window(3, 0, 2, {0, 2}), one(0, 5));
  EXPECT_EQ(window(3, 0, 2, {2, 4}), one(6, 11));
}

TEST(Projection, PaddingReachesOutside) {
  EXPECT_EQ(window(1, -1, 3, {0, 4}), one(-1, 5));
  EXPECT_EQ(window(1, -1, 3, {4, 8}), one(3, 9));
}

TEST(Projection, Reverse) { EXPECT_EQ(window(-1, 7, 1, {0, 3}), one(5, 8)); }

TEST(Projection, EmptyProjectsToEmptyOfTheTensorsRank) {
  Projection p{{1, {AffineExpr{{1}, 5}, AffineExpr{{0}, 2}}}, {1, 7}};
  Box b = p.bounds(Box{{{3, 3}}});
  EXPECT_EQ(b.rank(), 2u);
  EXPECT_TRUE(b.empty());
}

TEST(Projection, OfAScalarTensor) {
  Projection p{{1, {}}, {}};
  EXPECT_EQ(p.bounds(Box{{{0, 3}}}), Box{});
  EXPECT_EQ(p.image({2}).size(), 1);
}

TEST(Projection, OverflowIsRefused) {
  EXPECT_THROW(window(int_max, 0, 1, {0, 3}), Overflow);
  EXPECT_THROW(window(1, int_max, 1, {0, 2}), Overflow);
  EXPECT_THROW((AffineExpr{{int_max, int_max}, 0})(Point{2, 2}), Overflow);
}

TEST(Affine, OnlyTheResultMustFit) {
  AffineExpr e{{int_max, -int_max}, 5};
  EXPECT_EQ(e(Point{3, 3}), 5);
}

TEST(Affine, Prints) {
  std::vector<std::string> ij{"i", "j"};
  EXPECT_EQ(to_string(AffineExpr{{2, -1}, 3}, ij), "2*i - j + 3");
  EXPECT_EQ(to_string(AffineExpr{{0, 0}, 0}, ij), "0");
  EXPECT_EQ(to_string(AffineExpr{{-1, 0}, 7}, ij), "-i + 7");
  EXPECT_EQ(to_string(AffineExpr{{1, 0}, -1}, ij), "i - 1");
  EXPECT_EQ(to_string(AffineExpr{{0, -3}, 0}, ij), "-3*j");
  EXPECT_EQ(to_string(AffineExpr{{0, 0}, int_min}, ij), "-9223372036854775808");
  EXPECT_EQ(to_string(AffineExpr{{1, int_min}, 0}, ij), "i - 9223372036854775808*j");
  EXPECT_EQ(to_string(Constraint{{{2, -1}, 0}, Comparison::at_least_zero}, ij), "2*i - j >= 0");
  EXPECT_EQ(to_string(Constraint{{{2, -1}, 0}, Comparison::equal_zero}, ij), "2*i - j == 0");
}

TEST(Affine, AsVariable) {
  EXPECT_EQ((AffineExpr{{0, 1}, 0}.as_variable()), 1u);
  EXPECT_FALSE((AffineExpr{{0, 1}, 1}.as_variable()));
  EXPECT_FALSE((AffineExpr{{1, 1}, 0}.as_variable()));
  EXPECT_FALSE((AffineExpr{{0, 2}, 0}.as_variable()));
  EXPECT_FALSE((AffineExpr{{0, 0}, 0}.as_variable()));
}

TEST(Domain, IsTheBoxWithinItsConstraints) {
  // j <= i in 3x3
  Domain d{Box{{{0, 3}, {0, 3}}}, {{AffineExpr{{1, -1}, 0}, Comparison::at_least_zero}}};
  int points = 0;
  auto p = first_point(d.box);
  do points += d.contains(*p);
  while (next_point(d.box, *p));
  EXPECT_EQ(points, 6);
}

// Random small maps and boxes; everything below is checked by enumerating points.
using rc::gen::inRange;

AffineExpr random_affine(std::size_t inputs) {
  AffineExpr e;
  for (std::size_t d = 0; d < inputs; ++d) e.coefficients.push_back(*inRange<std::int64_t>(-3, 4));
  e.offset = *inRange<std::int64_t>(-5, 6);
  return e;
}
AffineMap random_map(std::size_t inputs, std::size_t outputs) {
  AffineMap m{inputs, {}};
  for (std::size_t r = 0; r < outputs; ++r) m.rows.push_back(random_affine(inputs));
  return m;
}
Box random_box(std::size_t rank) {
  Box b;
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t lo = *inRange<std::int64_t>(-4, 5);
    b.dims.push_back({lo, lo + *inRange<std::int64_t>(0, 5)});
  }
  return b;
}
template <class Visit>
void each_point(const Box& box, Visit visit) {
  auto p = first_point(box);
  if (!p) return;
  do visit(*p);
  while (next_point(box, *p));
}

RC_GTEST_PROP(Projection, BoundsIsTheHullOfAllImages, ()) {
  std::size_t dims = *inRange<std::size_t>(0, 4), rank = *inRange<std::size_t>(1, 4);
  Projection p{random_map(dims, rank), {}};
  for (std::size_t r = 0; r < rank; ++r) p.shape.push_back(*inRange<std::int64_t>(1, 4));
  Box box = random_box(dims);
  Box expected = Box::of_shape(Shape(rank, 0));
  each_point(box, [&](const Point& at) { expected = hull(expected, p.image(at)); });
  RC_ASSERT(p.bounds(box) == expected);
}

RC_GTEST_PROP(Affine, ComposeIsCompositionAtEveryPoint, ()) {
  std::size_t a = *inRange<std::size_t>(0, 4), b = *inRange<std::size_t>(0, 4), c = *inRange<std::size_t>(0, 4);
  AffineMap inner = random_map(a, b), outer = random_map(b, c);
  AffineMap both = compose(outer, inner);
  each_point(random_box(a), [&](const Point& at) { RC_ASSERT(both(at) == outer(inner(at))); });
  RC_ASSERT(compose(outer, AffineMap::identity(b)) == outer);
  RC_ASSERT(compose(AffineMap::identity(b), inner) == inner);
}

RC_GTEST_PROP(Affine, SumsAndScalesAtEveryPoint, ()) {
  std::size_t n = *inRange<std::size_t>(0, 4);
  AffineExpr a = random_affine(n), b = random_affine(n);
  std::int64_t f = *inRange<std::int64_t>(-4, 5);
  each_point(random_box(n), [&](const Point& at) {
    RC_ASSERT((a + b)(at) == a(at) + b(at));
    RC_ASSERT((a - b)(at) == a(at) - b(at));
    RC_ASSERT(scale(a, f)(at) == f * a(at));
  });
}

RC_GTEST_PROP(Box, IntersectHullContainsDisjointByPoints, ()) {
  std::size_t rank = *inRange<std::size_t>(1, 4);
  Box a = random_box(rank), b = random_box(rank);
  Box common = intersect(a, b), around = hull(a, b);
  std::int64_t shared = 0, inside = 0;
  each_point(Box{std::vector<Range>(rank, {-4, 9})}, [&](const Point& at) {
    bool in_both = a.contains(at) && b.contains(at);
    RC_ASSERT(common.contains(at) == in_both);
    if (a.contains(at) || b.contains(at)) RC_ASSERT(around.contains(at));
    shared += in_both;
    inside += a.contains(at);
  });
  RC_ASSERT(disjoint(a, b) == (shared == 0));
  RC_ASSERT(a.contains(b) == (shared == b.size()));
  RC_ASSERT(a.size() == inside);
  // Tight: every face of the hull is a face of one of the two.
  for (std::size_t d = 0; d < rank && !a.empty() && !b.empty(); ++d) {
    RC_ASSERT(around.dims[d].lo == std::min(a.dims[d].lo, b.dims[d].lo));
    RC_ASSERT(around.dims[d].hi == std::max(a.dims[d].hi, b.dims[d].hi));
  }
}

}  // namespace
}  // namespace tap::ir
