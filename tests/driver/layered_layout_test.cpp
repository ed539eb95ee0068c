// Layouts are judged by brute force: every line against every node.
#include "compiler/driver/show/layered_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace tap::driver {
namespace {

struct Rectangle {
  double left = 0, top = 0, right = 0, bottom = 0;
};

struct LaidOutGraph {
  std::vector<Size> sizes;
  LayoutEdges edges;
};

constexpr double touch = 1e-6;

bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right - touch && b.left < a.right - touch && a.top < b.bottom - touch && b.top < a.bottom - touch;
}

// Wider by a hair, so that a line through a node counts.
Rectangle around(Point a, Point b) {
  return {std::min(a.x, b.x) - 0.5, std::min(a.y, b.y), std::max(a.x, b.x) + 0.5, std::max(a.y, b.y)};
}

Rectangle box_of(const Layout& layout, const LaidOutGraph& graph, std::size_t n) {
  const Point c = layout.centres[n];
  const Size s = graph.sizes[n];
  return {c.x - s.width / 2, c.y - s.height / 2, c.x + s.width / 2, c.y + s.height / 2};
}

// The nodes by the horizontal bands that they are in: with brute force alone, 10,000 nodes would take minutes.
class Buckets {
 public:
  Buckets(const Layout& layout, const LaidOutGraph& graph)
      : bands_(static_cast<std::size_t>(layout.size.height / band) + 2) {
    for (std::size_t n = 0; n < graph.sizes.size(); ++n) {
      boxes_.push_back(box_of(layout, graph, n));
      for (std::size_t b = band_of(boxes_[n].top); b <= band_of(boxes_[n].bottom); ++b) bands_[b].push_back(n);
    }
  }
  std::set<std::size_t> overlapping(const Rectangle& other) const {
    std::set<std::size_t> found;
    for (std::size_t b = band_of(other.top); b <= band_of(other.bottom); ++b)
      for (std::size_t n : bands_[b])
        if (overlap(boxes_[n], other)) found.insert(n);
    return found;
  }

 private:
  static constexpr double band = 100;
  std::size_t band_of(double y) const {
    return std::min(static_cast<std::size_t>(std::max(y, 0.0) / band), bands_.size() - 1);
  }
  std::vector<Rectangle> boxes_;
  std::vector<std::vector<std::size_t>> bands_;
};

std::vector<std::vector<Point>> lines_of(const Layout& layout) {
  std::vector<std::vector<Point>> lines = layout.trunks;
  for (const Branch& branch : layout.branches) lines.push_back(branch.points);
  return lines;
}

// A curve between two points stays in their rectangle, so the rectangle must miss every node; a horizontal line needs
// its exact height.
std::size_t crossings(const Layout& layout, const LaidOutGraph& graph) {
  const Buckets buckets(layout, graph);
  std::size_t count = 0;
  for (const std::vector<Point>& points : lines_of(layout))
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (points[i - 1].x == points[i].x && points[i - 1].y == points[i].y) continue;
      Rectangle line = around(points[i - 1], points[i]);
      if (points[i - 1].y == points[i].y) line = {line.left, line.top - 0.5, line.right, line.bottom + 0.5};
      count += buckets.overlapping(line).size();
    }
  return count;
}

void expect_sound(const Layout& layout, const LaidOutGraph& graph) {
  ASSERT_EQ(layout.centres.size(), graph.sizes.size());
  ASSERT_EQ(layout.branches.size(), graph.edges.size());
  EXPECT_EQ(crossings(layout, graph), 0U);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    auto [from, to] = graph.edges[e];
    const Branch& branch = layout.branches[e];
    const Rectangle upper = box_of(layout, graph, from), lower = box_of(layout, graph, to);
    EXPECT_NEAR(branch.points.back().y, lower.top, touch);
    EXPECT_NEAR(branch.points.back().x, layout.centres[to].x, touch);
    ASSERT_LT(branch.start, layout.trunks[from].size());
    EXPECT_NEAR(layout.trunks[from].front().y, upper.bottom, touch);
    EXPECT_NEAR(layout.trunks[from][branch.start].x, branch.points.front().x, touch);
    EXPECT_NEAR(layout.trunks[from][branch.start].y, branch.points.front().y, touch);
    if (layout.columns == 1) { EXPECT_LT(upper.bottom, lower.top); }
  }
  for (const std::vector<Point>& points : lines_of(layout))
    for (Point p : points) {
      EXPECT_TRUE(p.x >= 0 && p.x <= layout.size.width);
      EXPECT_TRUE(p.y >= 0 && p.y <= layout.size.height);
    }
  const Buckets buckets(layout, graph);
  for (std::size_t i = 0; i < graph.sizes.size(); ++i) {
    const Rectangle box = box_of(layout, graph, i);
    EXPECT_TRUE(box.left >= 0 && box.top >= 0 && box.right <= layout.size.width && box.bottom <= layout.size.height);
    EXPECT_EQ(buckets.overlapping(box), std::set<std::size_t>{i});
  }
}

double ratio(const Layout& layout) {
  return std::max(layout.size.width / layout.size.height, layout.size.height / layout.size.width);
}

// Each node reads `fewest` to `most` of the `reach` nodes before it.
LaidOutGraph random_graph(std::mt19937& random, std::size_t count, std::size_t reach, std::size_t fewest,
                          std::size_t most) {
  LaidOutGraph graph;
  for (std::size_t i = 0; i < count; ++i) graph.sizes.push_back({20.0 + random() % 100, 20.0 + random() % 40});
  for (std::size_t to = 1; to < count; ++to)
    for (std::size_t k = fewest + random() % (most - fewest + 1); k > 0; --k)
      graph.edges.emplace_back(to - 1 - random() % std::min(reach, to), to);
  return graph;
}

TEST(LayeredLayout, NoEdgeCrossesANodeAndNodesDoNotOverlap) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const std::size_t count = 1 + random() % 60;
    const LaidOutGraph graph = random_graph(random, count, round % 2 == 0 ? count : 4, 0, 2);
    SCOPED_TRACE(round);
    expect_sound(lay_out(graph.sizes, graph.edges), graph);
  }
}

TEST(LayeredLayout, LongGraphsAreFolded) {
  std::mt19937 random(6);
  std::size_t most_columns = 0;
  for (std::size_t round = 0; round < 8; ++round) {
    const std::size_t reach = std::array<std::size_t, 4>{1, 3, 30, 1000}[round / 2];
    SCOPED_TRACE(round);
    const LaidOutGraph graph = random_graph(random, 1000, reach, reach == 1 ? 1 : round % 2, 2);
    const Layout layout = lay_out(graph.sizes, graph.edges);
    EXPECT_LT(ratio(layout), 4);
    expect_sound(layout, graph);
    most_columns = std::max(most_columns, layout.columns);
  }
  EXPECT_GT(most_columns, 3U);
}

TEST(LayeredLayout, AChainOfAThousandNodesWithAnInputForEach) {
  LaidOutGraph graph;
  for (std::size_t i = 0; i < 500; ++i) {
    graph.sizes.push_back({80, 33});
    graph.sizes.push_back({120, 48});
    if (i > 0) graph.edges.emplace_back(2 * i - 1, 2 * i + 1);
    graph.edges.emplace_back(2 * i, 2 * i + 1);
    if (i > 0) graph.edges.emplace_back(0, 2 * i + 1);  // and one that all of them read
  }
  const Layout layout = lay_out(graph.sizes, graph.edges);
  EXPECT_GT(layout.columns, 2U);
  EXPECT_LT(ratio(layout), 4);
  expect_sound(layout, graph);
}

// Each operation reads the one before it and an input, each tenth also the tenth before it. The operations of a column
// stay near one line.
TEST(LayeredLayout, AChainDoesNotDrift) {
  LaidOutGraph graph;
  for (std::size_t i = 0; i < 300; ++i) {
    graph.sizes.push_back({60, 48});
    graph.sizes.push_back({80, 48});
    graph.edges.emplace_back(2 * i, 2 * i + 1);
    if (i > 0) graph.edges.emplace_back(2 * i - 1, 2 * i + 1);
    if (i > 0 && i % 10 == 0) graph.edges.emplace_back(2 * i - 19, 2 * i + 1);
  }
  const Layout layout = lay_out(graph.sizes, graph.edges);
  EXPECT_GT(layout.columns, 2U);
  EXPECT_LT(layout.size.width, static_cast<double>(layout.columns) * 300);
  expect_sound(layout, graph);
}

// The first ten operations of a chain read a wide input each, the others none.
TEST(LayeredLayout, InputsDoNotBendAChain) {
  LaidOutGraph graph{std::vector<Size>(20, Size{40, 10}), {}};
  for (std::size_t i = 1; i < 20; ++i) graph.edges.emplace_back(i - 1, i);
  for (std::size_t i = 0; i < 10; ++i) {
    graph.edges.emplace_back(graph.sizes.size(), i + 1);
    graph.sizes.push_back({200, 10});
  }
  const Layout layout = lay_out(graph.sizes, graph.edges);
  ASSERT_EQ(layout.columns, 1U);
  for (std::size_t i = 2; i < 20; ++i) EXPECT_NEAR(layout.centres[i].x, layout.centres[i - 1].x, 5) << i;
}

TEST(LayeredLayout, TheLastColumnIsNotAStub) {
  for (std::size_t count : {200U, 301U, 407U}) {
    LaidOutGraph graph{std::vector<Size>(count, Size{60, 48}), {}};
    for (std::size_t i = 1; i < count; ++i) graph.edges.emplace_back(i - 1, i);
    const Layout layout = lay_out(graph.sizes, graph.edges);
    ASSERT_GT(layout.columns, 2U);
    EXPECT_GT(layout.centres.back().y, layout.size.height / 2) << count;
    expect_sound(layout, graph);
  }
}

TEST(LayeredLayout, AThousandNodesThatOneReads) {
  LaidOutGraph graph{std::vector<Size>(1001, Size{100, 33}), {}};
  for (std::size_t i = 0; i < 1000; ++i) graph.edges.emplace_back(i, 1000);
  const Layout layout = lay_out(graph.sizes, graph.edges);
  EXPECT_LT(ratio(layout), 4);
  expect_sound(layout, graph);
}

// 1,500 nodes that all reach over 1,500 rows would need two million passages.
TEST(LayeredLayout, TooManyLongEdgesGoAroundAllRows) {
  LaidOutGraph graph{std::vector<Size>(3000, Size{20, 10}), {}};
  for (std::size_t i = 1; i < 3000; ++i) graph.edges.emplace_back(i - 1, i);
  for (std::size_t i = 0; i < 1500; ++i) graph.edges.emplace_back(i, i + 1500);
  for (std::size_t i = 0; i < 1500; i += 10) graph.edges.emplace_back(i, i + 1000);
  const Layout layout = lay_out(graph.sizes, graph.edges);
  EXPECT_GT(layout.columns, 2U);
  expect_sound(layout, graph);
  // Only some of the nodes have passages.
  std::size_t points = 0;
  for (const std::vector<Point>& line : lines_of(layout)) points += line.size();
  EXPECT_LT(points, 3'000'000U);
}

TEST(LayeredLayout, TenThousandNodesHaveNoEdgeAcrossANode) {
  std::mt19937 random(7);
  for (std::size_t reach : {1U, 50U, 10'000U}) {
    SCOPED_TRACE(reach);
    const LaidOutGraph graph = random_graph(random, 10'000, reach, 1, 3);
    const Layout layout = lay_out(graph.sizes, graph.edges);
    EXPECT_LT(ratio(layout), 4);
    expect_sound(layout, graph);
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

TEST(LayeredLayout, AChainIsStraight) {
  Layout layout = lay_out({{10, 10}, {50, 10}, {30, 10}}, {{0, 1}, {1, 2}});
  EXPECT_NEAR(layout.centres[0].x, layout.centres[2].x, 0.01);
}

TEST(PathData, CurvesOnlyWhereALineIsSlanted) {
  EXPECT_EQ(path_data({{1, 2}, {1, 6}, {5, 10}, {9, 10}}), "M1.0 2.0 L1.0 6.0 C1.0 8.0 5.0 8.0 5.0 10.0 L9.0 10.0");
}

}  // namespace
}  // namespace tap::driver
