// Sets of boxes against the points that they are made of, one by one.
#include "ir/box_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tap::ir {
namespace {

Box small_random_box(std::size_t rank) {
  Box box;
  for (std::size_t d = 0; d < rank; ++d) {
    auto lo = *rc::gen::inRange<std::int64_t>(-2, 5);
    box.dims.push_back({lo, lo + *rc::gen::inRange<std::int64_t>(-1, 5)});
  }
  return box;
}
std::set<Point> points_of(const Box& box) {
  std::set<Point> points;
  if (auto p = first_point(box)) do
      points.insert(*p);
    while (next_point(box, *p));
  return points;
}

RC_GTEST_PROP(BoxSet, ContainsThePointsOfItsBoxes, ()) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 4);
  BoxSet set;
  std::set<Point> points;
  for (auto count = *rc::gen::inRange(0, 8); count > 0; --count) {
    Box box = small_random_box(rank);
    set.add(box);
    points.merge(points_of(box));
  }
  for (int query = 0; query < 20; ++query) {
    const Box box = small_random_box(rank);
    const std::set<Point> queried = points_of(box);
    auto is_in = [&](const Point& p) { return points.count(p) > 0; };
    RC_ASSERT(set.covers(box) == std::all_of(queried.begin(), queried.end(), is_in));
    RC_ASSERT(set.meets(box) == std::any_of(queried.begin(), queried.end(), is_in));
  }
}

TEST(BoxSet, BlocksThatCoverABoxInAnyOrder) {
  BoxSet set;
  for (std::int64_t r : {2, 0, 3, 1}) set.add({{{4 * r, 4 * r + 4}, {0, 3}}});
  EXPECT_TRUE(set.covers({{{0, 16}, {0, 3}}}));
  EXPECT_FALSE(set.covers({{{0, 17}, {0, 3}}}));
  EXPECT_FALSE(set.meets({{{0, 16}, {3, 5}}}));
}

}  // namespace
}  // namespace tap::ir
