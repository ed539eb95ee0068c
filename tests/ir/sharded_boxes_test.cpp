// Boxes of devices, against the examples of the representation's text and against each other.
#include "ir/shardings/sharded_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/shardings/mesh_position.h"
#include "tests/ir/all_boxes.h"
#include "tests/ir/axis_by_name.h"

namespace tap::ir {
namespace {

Sharding sharding(const std::vector<Axes>& dims) {
  Sharding s{MeshId(0), {}, {}, {}, ""};
  for (const Axes& axes : dims) s.dims.push_back({axes, false, {}});
  return s;
}
std::vector<std::int64_t> shard_numbers(const Mesh& mesh, const Axes& axes) {
  std::vector<std::int64_t> numbers;
  for (const Box& box : all_boxes(mesh, sharding({axes}), {size_of(mesh, axes)})) numbers.push_back(box.dims[0].lo);
  return numbers;
}

TEST(ShardedBoxes, MajorToMinor) {
  Mesh mesh{"m", {{"x", 2}, {"y", 4}, {"z", 2}}, {}};
  EXPECT_EQ(local_shape(mesh, sharding({{full(mesh, "x")}, {full(mesh, "z"), full(mesh, "y")}}), {4, 8}),
            (Shape{2, 1}));
  auto numbers = shard_numbers(mesh, {full(mesh, "z"), full(mesh, "y")});
  EXPECT_EQ(numbers[1], 4);
  EXPECT_EQ(numbers[2], 1);
}

TEST(ShardedBoxes, OfASubAxis) {
  Mesh mesh{"m", {{"y", 8}}, {}};
  EXPECT_EQ(shard_numbers(mesh, {part(mesh, "y", 2, 2)}), (std::vector<std::int64_t>{0, 0, 1, 1, 0, 0, 1, 1}));
}

std::vector<std::int64_t> sizes(const Mesh& mesh, const Axes& axes, std::int64_t size) {
  std::vector<std::int64_t> list;
  for (const Box& box : all_boxes(mesh, sharding({axes}), {size})) list.push_back(box.dims[0].size());
  return list;
}

TEST(ShardedBoxes, SizesThatDoNotDivide) {
  Mesh four{"m", {{"x", 4}}, {}}, six{"m", {{"x", 2}, {"y", 3}}, {}}, big{"m", {{"x", 8}, {"y", 2}, {"z", 3}}, {}};
  EXPECT_EQ(sizes(four, {full(four, "x")}, 10), (std::vector<std::int64_t>{3, 3, 3, 1}));
  EXPECT_EQ(sizes(four, {full(four, "x")}, 9), (std::vector<std::int64_t>{3, 3, 3, 0}));
  EXPECT_EQ(sizes(six, {full(six, "x"), full(six, "y")}, 10), (std::vector<std::int64_t>{2, 2, 2, 2, 2, 0}));
  EXPECT_EQ(local_shape(big, sharding({{full(big, "x")}, {full(big, "y")}, {full(big, "z")}}), {7, 3, 8}),
            (Shape{1, 2, 3}));
}

TEST(ShardedBoxes, OrderOfDevicesAndHolders) {
  Mesh mesh{"m", {{"x", 2}, {"y", 2}}, {3, 1, 2, 0}};
  Sharding by_x = sharding({{full(mesh, "x")}});
  EXPECT_EQ(holders(mesh, by_x, {8}, Box{{{0, 4}}}), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(holders(mesh, by_x, {8}, Box{{{5, 7}}}), (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(holders(mesh, by_x, {8}, Box{{{3, 5}}}).empty());
}

TEST(ShardedBoxes, SamePlacementAcrossMeshes) {
  Mesh xy{"xy", {{"x", 4}, {"y", 2}}, {}}, all{"all", {{"d", 8}}, {}}, xt{"xt", {{"x", 2}, {"t", 4}}, {}};
  EXPECT_TRUE(same_placement(xy, sharding({{full(xy, "x")}, {full(xy, "y")}}), all,
                             sharding({{part(all, "d", 1, 4)}, {part(all, "d", 4, 2)}})));
  EXPECT_TRUE(same_placement(xy, sharding({{part(xy, "x", 1, 2)}, {full(xy, "y")}}), xt,
                             sharding({{full(xt, "x")}, {part(xt, "t", 2, 2)}})));
  EXPECT_FALSE(same_placement(xy, sharding({{full(xy, "x")}, {}}), xy, sharding({{}, {full(xy, "x")}})));
  Mesh turned = all;
  turned.devices = {7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_FALSE(same_placement(all, sharding({{full(all, "d")}}), turned, sharding({{full(all, "d")}})));
  EXPECT_TRUE(same_placement(all, sharding({{}}), turned, sharding({{}})));
  Mesh ordered = all;
  ordered.devices = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(same_placement(all, sharding({{full(all, "d")}}), ordered, sharding({{full(all, "d")}})));
}

TEST(ShardedBoxes, MaximalMesh) {
  Mesh nine{"nine", {}, {9}}, none{"none", {}, {}};
  EXPECT_TRUE(is_maximal(nine));
  EXPECT_FALSE(is_maximal(none));
  EXPECT_EQ(holders(nine, sharding({{}}), {8}, Box{{{0, 8}}}), std::vector<std::int64_t>{9});
  EXPECT_FALSE(same_placement(nine, sharding({{}}), none, sharding({{}})));
}

// Any sharding: the boxes of devices tile the tensor, each as often as the sharding replicates it; and two shardings have
// the same placement exactly where the boxes of a tensor with a cell for every place are the same.
TEST(ShardedBoxes, TileTheTensorAndDetermineThePlacement) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Mesh mesh{"m", {{"a", 4}, {"b", 6}, {"c", 2}}, {}};
  const Axes candidates = {full(mesh, "a"),       part(mesh, "a", 1, 2), part(mesh, "a", 2, 2), full(mesh, "b"),
                           part(mesh, "b", 1, 3), part(mesh, "b", 3, 2), full(mesh, "c")};
  for (int round = 0; round < 300; ++round) {
    Sharding both[2];
    for (Sharding& s : both) {
      s = sharding({{}, {}});
      for (const AxisRef& axis : candidates)
        if (below(3) == 0 && !overlap(mesh, used_axes(s), {axis})) {
          Axes& axes = s.dims[below(2)].axes;
          axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(below(axes.size() + 1)), axis);
        }
      s = canonical(mesh, s);
      Shape shape{1 + static_cast<std::int64_t>(below(20)), 1 + static_cast<std::int64_t>(below(20))};
      std::int64_t cells = 0, used = size_of(mesh, used_axes(s));
      for (const Box& box : all_boxes(mesh, s, shape)) cells += box.size();
      ASSERT_EQ(cells, shape[0] * shape[1] * (device_count(mesh) / used)) << to_string({mesh}, s) << ", seed " << seed;
    }
    Shape shape{48, 48};
    ASSERT_EQ(same_placement(mesh, both[0], mesh, both[1]),
              all_boxes(mesh, both[0], shape) == all_boxes(mesh, both[1], shape))
        << to_string({mesh}, both[0]) << " and " << to_string({mesh}, both[1]) << ", seed " << seed;
  }
}

}  // namespace
}  // namespace tap::ir
