// Resharding, judged by simulation on the boxes of devices.
#include "passes/shardings/collectives.h"

#include <gtest/gtest.h>

#include <random>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "tests/conformance_driver/simulate_collectives.h"
#include "tests/ir/axis_by_name.h"

namespace tap::passes {
namespace {

using namespace ir;

// On the first of two meshes.
Sharding on_mesh(const std::vector<Axes>& dims, const Axes& unreduced = {}) {
  Sharding s{MeshId(0), {}, {}, unreduced, unreduced.empty() ? "" : "sum"};
  for (const Axes& axes : dims) s.dims.push_back({axes, false, {}});
  return s;
}
std::vector<std::string> written(const std::vector<Mesh>& meshes, const std::vector<Collective>& steps) {
  std::vector<std::string> lines;
  for (const Collective& step : steps) lines.push_back(to_string(meshes, step));
  return lines;
}
using Lines = std::vector<std::string>;

const Mesh xyz{"m", {{"x", 2}, {"y", 2}, {"z", 2}}, {}};

// Every device's box has one size.
bool even(const Mesh& mesh, const Sharding& s, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] % size_of(mesh, s.dims[d].axes) != 0) return false;
  return true;
}

// From the mesh 0 to itself, or to the mesh 1.
std::vector<Collective> checked_reshard(const OnMesh& from, const OnMesh& to, const Shape& shape) {
  const std::vector<Mesh> meshes{from.mesh, to.mesh};
  auto steps = reshard(from, to, shape);
  SimulatedSteps simulated = simulate(from, to, shape, steps);
  EXPECT_EQ(simulated.failures, Lines{}) << to_string(meshes, from.sharding) << " to "
                                         << to_string(meshes, to.sharding);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    auto mesh_of = [&](const Sharding& s) { return meshes[s.mesh.index()]; };
    bool reduces = steps[k].kind == CollectiveKind::all_reduce || steps[k].kind == CollectiveKind::reduce_scatter;
    if (!reduces && even(mesh_of(steps[k].before), steps[k].before, shape) &&
        even(mesh_of(steps[k].after), steps[k].after, shape)) {
      EXPECT_LE(simulated.received[k], steps[k].moved) << to_string(meshes, steps[k]);
    }
  }
  return steps;
}

Lines steps_of(const Mesh& mesh, const Sharding& from, const Sharding& to, const Shape& shape) {
  return written({mesh}, checked_reshard({mesh, from}, {mesh, to}, shape));
}

TEST(Reshard, OneCollective) {
  EXPECT_EQ(steps_of(xyz, on_mesh({{full(xyz, "x")}, {}}), on_mesh({{full(xyz, "x")}, {}}), {8, 8}), Lines{});
  EXPECT_EQ(steps_of(xyz, on_mesh({{full(xyz, "x")}, {}}), on_mesh({{full(xyz, "x")}, {full(xyz, "y")}}), {8, 8}),
            Lines{"all_slice [{}, {y}] -> m[{x}, {y}]"});
  EXPECT_EQ(steps_of(xyz, on_mesh({{full(xyz, "x"), full(xyz, "y")}, {}}), on_mesh({{full(xyz, "x")}, {}}), {8, 8}),
            Lines{"all_gather [{y}, {}] -> m[{x}, {}]"});
  EXPECT_EQ(steps_of(xyz, on_mesh({{full(xyz, "x"), full(xyz, "y")}, {}}),
                     on_mesh({{full(xyz, "x")}, {full(xyz, "y")}}), {8, 8}),
            Lines{"all_to_all {y} from dim 0 to dim 1 -> m[{x}, {y}]"});
  EXPECT_EQ(steps_of(xyz, on_mesh({{full(xyz, "x")}, {}}), on_mesh({{full(xyz, "y")}, {}}), {8, 8}),
            Lines{"collective_permute -> m[{y}, {}]"});
}

TEST(Reshard, Partials) {
  Axes x{full(xyz, "x")};
  EXPECT_EQ(steps_of(xyz, on_mesh({{}, {}}, x), on_mesh({{}, {}}), {8, 8}), Lines{"all_reduce {x} -> m[{}, {}]"});
  EXPECT_EQ(steps_of(xyz, on_mesh({{}, {}}, x), on_mesh({{}, x}), {8, 8}),
            Lines{"reduce_scatter {x} [{}, {x}] -> m[{}, {x}]"});
  EXPECT_EQ(
      steps_of(xyz, on_mesh({{}, {}}, {full(xyz, "x"), full(xyz, "y")}), on_mesh({{full(xyz, "y")}, {full(xyz, "z")}}),
               {8, 8}),
      (Lines{"all_slice [{}, {z}] -> m[{}, {z}; unreduced {x, y} by sum]",
             "reduce_scatter {y} [{y}, {}] -> m[{y}, {z}; unreduced {x} by sum]", "all_reduce {x} -> m[{y}, {z}]"}));
  EXPECT_EQ(steps_of(xyz, on_mesh({{}, {}}), on_mesh({{}, {}}, x), {8, 8}),
            Lines{"to_partial {x} -> m[{}, {}; unreduced {x} by sum]"});
  EXPECT_EQ(steps_of(xyz, on_mesh({{}, {}}, {full(xyz, "x"), full(xyz, "y")}), on_mesh({{}, {}}, x), {8, 8}),
            Lines{"all_reduce {y} -> m[{}, {}; unreduced {x} by sum]"});
}

// 10 over x = 2, y = 3: 2, 2, 2, 2, 2, 0 together and 5, 5 by x alone, so that {x, y} → {x} is no gather within groups.
TEST(Reshard, CopiesIfGroupsLackTheCells) {
  Mesh mesh{"m", {{"x", 2}, {"y", 3}}, {}};
  auto steps = checked_reshard({mesh, on_mesh({{full(mesh, "x"), full(mesh, "y")}})},
                               {mesh, on_mesh({{full(mesh, "x")}})}, {10});
  ASSERT_EQ(written({mesh}, steps), Lines{"copy -> m[{x}]"});
  EXPECT_EQ(steps[0].moved, 5);
  // Of 12 it is one.
  EXPECT_EQ(steps_of(mesh, on_mesh({{full(mesh, "x"), full(mesh, "y")}}), on_mesh({{full(mesh, "x")}}), {12}),
            Lines{"all_gather [{y}] -> m[{x}]"});
}

TEST(Reshard, BetweenMeshes) {
  Mesh xy{"xy", {{"x", 4}, {"y", 2}}, {}}, xt{"xt", {{"x", 2}, {"t", 4}}, {}}, turned = xy, odd{"odd", {{"u", 2}}, {}};
  Mesh one{"one", {}, {1}};
  turned.name = "turned";
  turned.devices = {7, 6, 5, 4, 3, 2, 1, 0};
  auto between = [&](const Mesh& a, const std::vector<Axes>& from, const Mesh& b, const std::vector<Axes>& to) {
    Sharding target = on_mesh(to);
    target.mesh = MeshId(1);
    return written({a, b}, checked_reshard({a, on_mesh(from)}, {b, target}, {8, 8}));
  };
  EXPECT_EQ(between(xy, {{part(xy, "x", 1, 2)}, {full(xy, "y")}}, xt, {{full(xt, "x")}, {part(xt, "t", 2, 2)}}),
            Lines{});
  EXPECT_EQ(between(xy, {{full(xy, "x")}, {}}, xt, {{}, {full(xt, "t")}}).back().substr(0, 10), "all_gather");
  EXPECT_EQ(between(xy, {{full(xy, "x")}, {}}, turned, {{full(turned, "x")}, {}}),
            Lines{"collective_permute -> turned[{x}, {}]"});
  EXPECT_EQ(between(xy, {{full(xy, "x")}, {full(xy, "y")}}, turned, {{full(turned, "x")}, {}}),
            (Lines{"collective_permute -> turned[{x}, {y}]", "all_gather [{}, {y}] -> turned[{x}, {}]"}));
  EXPECT_EQ(between(xy, {{full(xy, "x")}, {}}, turned, {{}, {}}), Lines{"all_gather [{x}, {}] -> turned[{}, {}]"});
  EXPECT_EQ(between(xy, {{}, {}}, turned, {{full(turned, "x")}, {}}), Lines{"all_slice [{x}, {}] -> turned[{x}, {}]"});
  EXPECT_EQ(between(odd, {{full(odd, "u")}, {}}, xy, {{}, {full(xy, "x")}}), Lines{"copy -> xy[{}, {x}]"});
  EXPECT_EQ(between(xy, {{full(xy, "x")}, {}}, one, {{}, {}}), Lines{"copy -> one[{}, {}]"});
}

struct RandomSharding {
  std::mt19937& random;
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random() % n); }

  Sharding operator()(const Mesh& mesh, std::size_t rank, bool partial) {
    Sharding s = on_mesh(std::vector<Axes>(rank));
    for (int tries = 0; tries < 8; ++tries) {
      const AxisId axis(below(mesh.axes.size()));
      auto pre = static_cast<std::int64_t>(1 + below(4)), size = static_cast<std::int64_t>(2 + below(7));
      AxisRef ref = below(2) || mesh[axis].size % (pre * size) != 0 ? AxisRef{axis, {}}
                                                                    : axis_of(mesh, axis, {pre, size});
      bool free = mesh[axis].size > 1;
      for (const AxisRef& used : used_axes(s)) free &= !overlap(mesh, used, ref) && are_compatible(mesh, used, ref);
      if (!free) continue;
      if (partial && below(3) == 0) s.unreduced.push_back(ref);
      else s.dims[below(rank)].axes.push_back(ref);
    }
    if (!s.unreduced.empty()) s.unreduced_monoid = "sum";
    return canonical(mesh, s);
  }
};

// Any two shardings of tensors of any size, on meshes of any kind.
TEST(Reshard, Random) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  RandomSharding any{random};
  const std::vector<Mesh> meshes = {{"a", {{"x", 2}, {"y", 4}, {"z", 2}}, {}},
                                    {"b", {{"x", 8}, {"y", 3}}, {}},
                                    {"c", {{"x", 6}, {"y", 4}}, {}},
                                    {"d", {{"x", 2}, {"y", 2}, {"z", 2}, {"w", 2}}, {}}};
  int collectives = 0, copies = 0;
  for (int round = 0; round < 400; ++round) {
    const Mesh& mesh = meshes[any.below(meshes.size())];
    Mesh other = any.below(4) ? mesh : meshes[any.below(meshes.size())];
    if (any.below(5) == 0) {
      for (std::int64_t d = 0; d < device_count(other); ++d) other.devices.push_back(d);
      std::shuffle(other.devices.begin(), other.devices.end(), random);
      other.name = "shuffled";
    }
    std::size_t rank = 1 + any.below(3);
    const bool whole = any.below(2), partial = any.below(3) == 0;
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d)
      shape.push_back(whole ? static_cast<std::int64_t>(24 / rank) : static_cast<std::int64_t>(any.below(14)));
    Sharding from = any(mesh, rank, partial), to = any(other, rank, partial);
    if (mesh != other) to.mesh = MeshId(1);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " + to_string({mesh}, from) +
                 " to " + to_string({mesh, other}, to));
    auto steps = checked_reshard({mesh, from}, {other, to}, shape);
    for (const Collective& step : steps) (step.kind == CollectiveKind::copy ? copies : collectives)++;
    if (HasFailure()) return;
  }
  EXPECT_GT(collectives, copies);  // about twice as many
}

}  // namespace
}  // namespace tap::passes
