// Shardings over one view of the devices, written over another.
#include <gtest/gtest.h>

#include "ir/shardings/other_mesh.h"

namespace tap::ir {
namespace {

const Mesh line{"line", {{"x", 4}, {"y", 2}}, {}};
const Mesh cube{"cube", {{"a", 2}, {"one", 1}, {"b", 2}, {"c", 2}}, {}};

Sharding over(std::vector<AxisRef> axes) { return {MeshId(0), {{std::move(axes), false, {}}, {}}, {}, {}, ""}; }

std::optional<std::vector<AxisRef>> on_cube(std::vector<AxisRef> axes) {
  auto same = on_other_mesh(over(std::move(axes)), line, MeshId(1), cube);
  if (!same) return std::nullopt;
  EXPECT_EQ(same->mesh, MeshId(1));
  return same->dims[0].axes;
}

TEST(OtherMesh, AnAxisIsAProductOfWholeAxes) {
  EXPECT_EQ(on_cube({{AxisId(0), {}}}), (std::vector<AxisRef>{{AxisId(0), {}}, {AxisId(2), {}}}));
  EXPECT_EQ(on_cube({{AxisId(1), {}}}), (std::vector<AxisRef>{{AxisId(3), {}}}));
  EXPECT_EQ(on_cube({{AxisId(0), SubAxis{2, 2}}}), (std::vector<AxisRef>{{AxisId(2), {}}}));
  EXPECT_EQ(on_cube({}), std::vector<AxisRef>{});
}

TEST(OtherMesh, PartsOfAxesAreNone) {
  const Mesh flat{"flat", {{"z", 8}}, {}}, odd{"odd", {{"p", 2}, {"q", 4}}, {}};
  EXPECT_FALSE(on_other_mesh(over({{AxisId(0), {}}}), line, MeshId(1), flat));
  EXPECT_FALSE(on_other_mesh(over({{AxisId(0), {}}}), line, MeshId(1), odd));
  EXPECT_TRUE(on_other_mesh(over({{AxisId(0), {}}, {AxisId(1), {}}}), line, MeshId(1), flat) == std::nullopt);
}

TEST(OtherMesh, DevicesInAnotherOrderAreOthers) {
  const Mesh turned{"turned", {{"x", 4}, {"y", 2}}, {0, 2, 4, 6, 1, 3, 5, 7}};
  EXPECT_FALSE(on_other_mesh(over({{AxisId(0), {}}}), line, MeshId(1), turned));
  const Mesh listed{"listed", {{"x", 4}, {"y", 2}}, {0, 1, 2, 3, 4, 5, 6, 7}};
  EXPECT_TRUE(on_other_mesh(over({{AxisId(0), {}}}), line, MeshId(1), listed));
}

TEST(OtherMesh, UnreducedAxesFollow) {
  Sharding partial = over({});
  partial.unreduced = {{AxisId(1), {}}};
  partial.unreduced_monoid = "sum";
  const auto same = on_other_mesh(partial, line, MeshId(1), cube);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->unreduced, (std::vector<AxisRef>{{AxisId(3), {}}}));
  EXPECT_EQ(same->unreduced_monoid, "sum");
}

}  // namespace
}  // namespace tap::ir
