// What a plan moves, collective by collective: as written by hand, and in sum what the devices of the expanded program receive.
#include "passes/shardings/planned_shardings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cost/model/traffic.h"
#include "cost/search/sharding_search.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text/plan_text.h"
#include "passes/pass_manager.h"
#include "passes/shardings/moves.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/cost/random_matrices.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

using Lines = std::vector<std::string>;

passes::PlannedShardings planned(const ir::Program& program, const std::string& lines) {
  return passes::shardings_of_plan(program, std::get<ir::Plan>(ir::parse_plan("plan 2\n" + lines)));
}

Lines held(const passes::PlannedShardings& planned) {
  Lines lines;
  for (const ir::Value& value : planned.program[planned.program.main].values)
    if (value.sharding) lines.push_back(value.name + " " + to_string(planned.program.meshes, *value.sharding));
  std::ranges::sort(lines);
  return lines;
}

Lines moved(const passes::PlannedShardings& planned) {
  Lines lines;
  for (const passes::Move& move : passes::moves_of(planned.program, planned.sites, {}, planned.divided))
    if (move.bytes > 0)
      lines.push_back(fmt::format("{}: {}, {} bytes{}{}", move.what, move.step, move.bytes,
                                  move.times == 1 ? "" : fmt::format(", {} times", move.times),
                                  move.implicit ? "!" : ""));
  return lines;
}

ir::Program inlined(const std::string& text) {
  return passes::run(passes::lowering(), passes::test::lowered(text)).program;
}

const std::string mlp =
    "mesh pod = [data: 2, model: 4]\n"
    "program mlp(X: f32[8, 16], W: f32[16, 32], V: f32[32, 16]) -> (Y: f32[8, 16]) {\n"
    "  H[i, o] = sum[k] X[i, k] * W[k, o]\n"
    "  Y[i, o] = sum[k] H[i, k] * V[k, o]\n"
    "}\n";

TEST(PlannedShardings, ColumnsThenRows) {
  const auto found = planned(passes::test::lowered(mlp),
                             "split H dim i into 2 over pod.data\nsplit H dim o into 4 over pod.model\n"
                             "split Y dim i into 2 over pod.data\nsplit Y dim k into 4 over pod.model\n"
                             "split Y dim o into 4 over pod.model\n");
  EXPECT_EQ(held(found), (Lines{"H pod[{data}, {model}]", "Y pod[{data}, {model}]"}));
  // A quarter of four rows of 16 floats, from three others.
  EXPECT_EQ(moved(found), Lines{"Y: reduce_scatter {model} [{}, {model}] -> pod[{data}, {model}], 192 bytes"});
  EXPECT_TRUE(found.not_shown.empty());
}

TEST(PlannedShardings, WhatIsReadInAnotherSharding) {
  const auto found =
      planned(passes::test::lowered(mlp), "split H dim o into 4 over pod.model\nsplit Y dim i into 2 over pod.data\n");
  EXPECT_EQ(held(found), (Lines{"H pod[{}, {model}]", "Y pod[{data}, {}]"}));
  EXPECT_EQ(moved(found), Lines{"H for Y: all_gather [{}, {model}] -> pod[{data}, {}], 384 bytes!"});
}

// Operations with other dims share it.
TEST(PlannedShardings, WhatIsReadAlikeIsMovedOnce) {
  const ir::Program program = passes::test::lowered(
      "mesh m = [x: 2, y: 2]\n"
      "program p(X: f32[8, 8], W: f32[8, 4]) -> (P: f32[8, 4], r: f32[8]) {\n"
      "  A[i, k] = X[i, k] * 2\n  P[i, o] = sum[k] A[i, k] * W[k, o]\n"
      "  r[i] = sum[k] A[i, k] * A[i, k]\n  }\n");
  const std::string lines =
      "split A dim i into 2 over m.x\nsplit A dim k into 2 over m.y\nsplit P dim i into 2 over m.x\n"
      "split P dim o into 2 over m.y\n";
  EXPECT_EQ(moved(planned(program, lines + "split r dim i into 2 over m.x\n")),
            Lines{"A for P: all_gather [{}, {y}] -> m[{x}, {}], 64 bytes!"});
  EXPECT_EQ(moved(planned(program, lines)), (Lines{"A for P: all_gather [{}, {y}] -> m[{x}, {}], 64 bytes!",
                                                   "A for r: all_gather [{x}, {y}] -> m[{}, {}], 192 bytes!"}));
}

// Its devices read half of the rows and half of the columns: so much that they get all.
TEST(PlannedShardings, WhatAnOperationReadsInTwoWays) {
  const ir::Program program = passes::test::lowered(
      "mesh m = [x: 2, y: 2]\n"
      "program p(X: f32[8, 8]) -> (Y: f32[8, 8]) {\n"
      "  A[i, k] = X[i, k] * 2\n  Y[i, j] = sum[k] A[i, k] * A[k, j]\n}\n");
  EXPECT_EQ(
      moved(planned(program,
                    "split A dim i into 2 over m.x\nsplit A dim k into 2 over m.y\n"
                    "split Y dim i into 2 over m.x\nsplit Y dim j into 2 over m.y\n")),
      (Lines{"A for Y: all_gather [{}, {y}] -> m[{x}, {}], 64 bytes!",
             "A for Y: all_gather [{x}, {}] -> m[{}, {y}], 64 bytes!", "A for Y: copy from other blocks, 64 bytes"}));
}

TEST(PlannedShardings, InputsInParts) {
  const auto found = planned(passes::test::lowered(mlp),
                             "split W on axis 0 into 4 over pod.model\nsplit H dim i into 2 over pod.data\n"
                             "split Y dim i into 2 over pod.data\n");
  EXPECT_EQ(held(found), (Lines{"H pod[{data}, {}]", "W pod[{model}, {}]", "Y pod[{data}, {}]"}));
  EXPECT_EQ(moved(found), Lines{"W for H: all_gather [{model}, {}] -> pod[{}, {}], 1536 bytes!"});
}

TEST(PlannedShardings, StatesOfAnIterate) {
  const ir::Program program = inlined(
      "mesh line = [x: 4]\n"
      "op step(u: f32[n]) -> (v: f32[n]) {\n"
      "  v[i] = u[i - 1 else 0] + u[i + 1 else 0] }\n"
      "program steps(X: f32[64]) -> (Z: f32[64]) {\n"
      "  Y[i] = X[63 - i] for i in 0..64\n"
      "  Z = iterate 5 (u = Y) { step(u) } }\n");
  const auto found = planned(program, "split Z/u#2 dim i into 4 over line.x\n");
  EXPECT_EQ(moved(found), Lines{"Z/u for u#2: halo_exchange axis 0: 1..1, 8 bytes, 5 times"});
}

// More than 64 bits count.
TEST(PlannedShardings, TripsOfNestedIterates) {
  const auto found = planned(inlined("mesh line = [x: 4]\n"
                                     "program steps(X: f32[64]) -> (Z: f32[64]) {\n"
                                     "  Z = iterate 4294967296 (u = X) {\n"
                                     "    w = iterate 4294967296 (s = u) {\n"
                                     "      v[i] = s[i - 1 else 0] + s[i]\n      v }\n    w } }\n"),
                             "split Z/w/v dim i into 4 over line.x\n");
  std::vector<passes::Move> moves = passes::moves_of(found.program, found.sites);
  std::erase_if(moves, [](const passes::Move& move) { return move.bytes == 0; });
  ASSERT_EQ(moves.size(), 2u);  // edges in each inner trip, and what is left after the last one, in each outer trip
  EXPECT_EQ(moves[0].times, 0x1p32);
  EXPECT_EQ(moves[1].times, 0x1p64);
  EXPECT_EQ(bytes_of_all(moves), 4 * 0x1p64 + 4 * 48 * 0x1p32);
}

TEST(PlannedShardings, LinesThatNoShardingDescribes) {
  const auto found = planned(passes::test::lowered(mlp),
                             "split H dim i into 2 over devices {0}, {1}\nsplit Y dim i into 2 over pod.data\n");
  EXPECT_EQ(found.not_shown, Lines{"split H dim i into 2 over devices {0}, {1}"});
  EXPECT_EQ(
      planned(passes::test::lowered(mlp),
              "split Y dim k into 2 over pod.data\nsplit Y.partial dim o into 4 over pod.model\n"
              "split H dim i into [0, 1, 8] over pod.data\n")
          .not_shown,
      (Lines{"split H dim i into [0, 1, 8] over axis pod.data", "split Y.partial dim o into 4 over axis pod.model"}));
}

// Each device combines all partials.
TEST(PlannedShardings, CombinationsThatAreNotDivided) {
  const ir::Program program = passes::test::lowered(mlp);
  EXPECT_EQ(moved(planned(program, "split Y dim k into 4 over pod.model\n")),
            Lines{"Y: all_reduce {model} -> pod[{}, {}], 1536 bytes"});
}

// An axis of one device divides nothing, and is no level of partials.
TEST(PlannedShardings, AxesOfOneDevice) {
  const auto plan = passes::plan_of_shardings(
      passes::test::lowered("mesh m = [x: 2, o: 1, y: 2]\n"
                            "program p(A: f32[8, 16] @ m[{}, {x, o, y}]) -> (r: f32[8] @ m[{y, x}]) {\n"
                            "  r[i] = sum[j] A[i, j] }\n"));
  EXPECT_TRUE(plan.left.empty());
  EXPECT_NE(print(plan.plan).find("split r.partial dim i into 2 over axis m.y"), std::string::npos) << print(plan.plan);
}

// Each move may have another busiest device.
TEST(PlannedShardings, BytesAsTheDevicesReceiveThem) {
  SearchOptions options;
  options.cluster = builtin_cluster(builtin({}, 2));
  int plans = 0, with_partials = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const std::string text = random_program(random);
    ir::Program program = passes::test::lowered(text);
    const std::vector<ir::MeshAxis> axes = random_axes(random);
    program.meshes.push_back({"grid", axes});
    for (const FoundPlan& found : search(program, ir::MeshId(program.meshes.size() - 1), options).plans) {
      const ir::Plan& plan = found.sharded.plan;
      const passes::PlannedShardings planned = passes::shardings_of_plan(program, plan);
      EXPECT_TRUE(planned.not_shown.empty()) << text << print(plan);
      const std::vector<passes::Move> moves = passes::moves_of(planned.program, planned.sites, {}, planned.divided);
      const double bytes = bytes_of_all(moves);
      const passes::DividedInputs divided = passes::divide_inputs(program, plan);
      const passes::SplitResult split = passes::apply_splits(divided.program, divided.plan);
      ASSERT_TRUE(split.problems.empty()) << text << print(plan);
      const Traffic traffic = traffic_of(passes::expand(passes::realise(split.program).program));
      EXPECT_EQ(bytes, traffic.busiest) << text << print(plan);
      ++plans;
      with_partials += print(plan).find(".partial dim") != std::string::npos;
    }
  }
  EXPECT_GT(plans, 100);
  EXPECT_GT(with_partials, 3);
}

}  // namespace
}  // namespace tap::cost
