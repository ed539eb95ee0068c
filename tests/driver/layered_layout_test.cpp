#include "compiler/driver/show/layered_layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tap::driver {
namespace {

bool overlap(NodeCentre a, Size s, NodeCentre b, Size t) {
  return std::fabs(a.x - b.x) * 2 < s.width + t.width && std::fabs(a.y - b.y) * 2 < s.height + t.height;
}

TEST(LayeredLayout, EdgesPointDownAndNodesDoNotOverlap) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::size_t count = 1 + random() % 30;
    std::vector<Size> sizes;
    for (std::size_t i = 0; i < count; ++i) sizes.push_back({20.0 + random() % 100, 20.0 + random() % 40});
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    for (std::size_t to = 1; to < count; ++to)
      for (std::size_t k = random() % 3; k > 0; --k) edges.emplace_back(random() % to, to);
    Layout layout = lay_out(sizes, edges);
    for (auto [from, to] : edges)
      EXPECT_LT(layout.centres[from].y + sizes[from].height / 2, layout.centres[to].y - sizes[to].height / 2);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_GE(layout.centres[i].x - sizes[i].width / 2, 0);
      EXPECT_LE(layout.centres[i].x + sizes[i].width / 2, layout.size.width);
      EXPECT_LE(layout.centres[i].y + sizes[i].height / 2, layout.size.height);
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(overlap(layout.centres[i], sizes[i], layout.centres[j], sizes[j]));
    }
  }
}

TEST(LayeredLayout, EmptyGraph) { EXPECT_TRUE(lay_out({}, {}).centres.empty()); }

TEST(LayeredLayout, InputIsJustAboveItsFirstUser) {
  // 0 → 1 → 2 → 3, and 4 → 3
  Layout layout = lay_out(std::vector<Size>(5, Size{10, 10}), {{0, 1}, {1, 2}, {2, 3}, {4, 3}});
  EXPECT_EQ(layout.centres[4].y, layout.centres[2].y);
}

TEST(LayeredLayout, AvoidableCrossingsAreRemoved) {
  // 0 → 3, 1 → 2: in the order of the numbers the edges would cross.
  Layout layout = lay_out(std::vector<Size>(4, Size{10, 10}), {{0, 3}, {1, 2}});
  EXPECT_LT((layout.centres[0].x - layout.centres[1].x) * (layout.centres[2].x - layout.centres[3].x), 0);
}

}  // namespace
}  // namespace tap::driver
