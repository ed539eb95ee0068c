// The form of shardings, and meshes that no device count can be given to.
#include "ir/verify/verify.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/ir/axis_by_name.h"
#include "tests/ir/sample_programs.h"

namespace tap::ir {
namespace {

struct FormCase {
  std::vector<AxisRef> axes;  // of one dim
  std::size_t faults;
};

TEST(ShardingForm, SubAxes) {
  Mesh mesh{"m", {{"y", 16}, {"s", 6}, {"e", 8}}, {}};
  auto part = [&](const char* name, std::int64_t pre, std::int64_t size) { return ir::part(mesh, name, pre, size); };
  const AxisRef e = full(mesh, "e"), y = full(mesh, "y");
  const FormCase cases[] = {
      {{part("y", 2, 2), part("y", 4, 4)}, 1},  // merge into (2)8
      {{part("y", 4, 4), part("y", 2, 2)}, 0},  // in this order they stay
      {{part("s", 1, 2), part("s", 3, 2)}, 1},  // disjoint, and yet they are incompatible
      {{part("e", 1, 4), part("e", 2, 4)}, 1},  // overlap
      {{e, part("e", 1, 2)}, 1},                // a full axis beside its own part
      {{part("e", 1, 8)}, 1},                   // the whole axis is written e
      {{part("s", 1, 4)}, 1},                   // 4 does not divide 6
      {{part("e", 0, 2)}, 1},
      {{part("e", 1, 1)}, 1},
      {{e, e}, 1},
      {{e, y}, 0},
  };
  for (const FormCase& c : cases) {
    Sharding sharding{MeshId(0), {{c.axes, false, {}}}, {}, {}, ""};
    EXPECT_EQ(faults_of(sharding, mesh).size(), c.faults) << to_string({mesh}, sharding);
  }
  // The same axis in two places of one sharding.
  EXPECT_EQ(faults_of({MeshId(0), {{{e}, false, {}}}, {e}, {}, ""}, mesh).size(), 1u);
}

TEST(ShardingForm, Priorities) {
  Mesh mesh{"m", {{"y", 4}}, {}};
  auto with = [](std::vector<AxisRef> axes, bool open, std::int64_t priority) {
    return Sharding{MeshId(0), {{std::move(axes), open, priority}}, {}, {}, ""};
  };
  EXPECT_EQ(faults_of(with({}, false, 0), mesh).size(), 1u);
  EXPECT_EQ(faults_of(with({}, true, 7), mesh).size(), 0u);
  EXPECT_EQ(faults_of(with({full(mesh, "y")}, false, 3), mesh).size(), 0u);
  EXPECT_EQ(faults_of(with({full(mesh, "y")}, false, -1), mesh).size(), 1u);
}

TEST(ShardingForm, Prints) {
  const Mesh pod{"pod", {{"data", 2}, {"model", 4}, {"x", 2}, {"z", 2}}, {}};
  Sharding s{MeshId(0), {}, {full(pod, "x")}, {full(pod, "z")}, "sum"};
  s.dims = {{{full(pod, "data")}, false, {}}, {{part(pod, "model", 1, 2)}, true, 1}};
  EXPECT_EQ(to_string({pod}, s), "pod[{data}, {model:(1)2, ?}p1; replicated {x}; unreduced {z} by sum]");
}

// Meshes without a number of devices are not compared with others: the product of these sizes does not fit in 64 bits.
TEST(VerifyMeshes, SizesThatHaveNoProduct) {
  Program p = samples::matmul_relu();
  const Mesh good{"row", {{"r", 4}}, {}};
  const Mesh bad{"pod", {{"data", std::numeric_limits<std::int64_t>::max()}, {"model", -3}}, {}};
  const std::vector<std::string> expected = {
      "mesh pod: it has more than 16777216 devices",
      "mesh pod: the axis model has size -3",
  };
  for (const std::vector<Mesh>& meshes : {std::vector{bad, good}, {good, bad}, {good, bad, good}}) {
    p.meshes = meshes;
    if (meshes.size() == 3) p.meshes.back().name = "column";
    EXPECT_EQ(verify(p), expected);
  }
}

}  // namespace
}  // namespace tap::ir
