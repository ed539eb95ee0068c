// Reshards around operations: what is chosen for given shardings, and, for any shardings of any operation, that devices can
// compute what they are to compute.
#include "passes/shardings/explicit_reshards.h"

#include <random>

#include "ir/shardings/mesh_position.h"
#include "tests/conformance_driver/simulate_collectives.h"
#include "tests/conformance_driver/simulate_sites.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_shardings.h"

namespace tap::passes {
namespace {

using namespace ir;
using test::Sample;
using test::samples;
using test::shard_at_random;
using test::written;
using Lines = std::vector<std::string>;

// Each move as `value: step`, results behind what computes them.
Lines moves(const Program& program) {
  const Graph& graph = program[program.main];
  std::vector<SiteShardings> sites = explicit_shardings(program, graph);
  Lines lines;
  for (const Reshard& reshard : reshards(program, graph, sites)) {
    const Site& site = sites[reshard.site].site;
    ValueId value = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
    for (const Collective& step : reshard.steps)
      lines.push_back(graph[value].name + ": " + to_string(program.meshes, step));
  }
  return lines;
}

TEST(ExplicitReshards, NoReshardNeeded) {
  EXPECT_EQ(moves(test::lowered("mesh m = [a: 2, b: 2]\n"
                                "program p(X: f32[8, 8] @ m[{a}, {b}]) -> (Y: f32[8, 8] @ m[{b}, {a}]) {\n"
                                "  Y[i, j] = X[j, i] }")),
            Lines{});
  EXPECT_EQ(moves(test::lowered("program p(X: f32[8, 8]) -> (Y: f32[8, 8]) { Y[i, j] = X[j, i] }")), Lines{});
}

constexpr std::string_view matrix_product_source =
    "program p(X: f32[8, 16] @ m[{}, {a}], W: f32[16, 4] @ m[{a}, {}]) -> (Y: f32[8, 4] @ m[SHARDING]) {\n"
    "  Y[i, o] = sum[k] X[i, k] * W[k, o] }";
Lines product_moves(const std::string& sharding) {
  std::string text = "mesh m = [a: 4, b: 2]\n" + std::string(matrix_product_source);
  text.replace(text.find("SHARDING"), 8, sharding);
  return moves(test::lowered(text));
}

// The axes of a split reduction: combined everywhere, scattered where the result is split along them, or left as they are.
TEST(ExplicitReshards, PartialSums) {
  EXPECT_EQ(product_moves("{}, {}"), Lines{"Y: all_reduce {a} -> m[{}, {}]"});
  EXPECT_EQ(product_moves("{a}, {}"), Lines{"Y: reduce_scatter {a} [{a}, {}] -> m[{a}, {}]"});
  EXPECT_EQ(product_moves("{a:(1)2}, {}"),
            (Lines{"Y: reduce_scatter {a:(1)2} [{a:(1)2}, {}] -> m[{a:(1)2}, {}; unreduced {a:(2)2} by sum]",
                   "Y: all_reduce {a:(2)2} -> m[{a:(1)2}, {}]"}));
  EXPECT_EQ(product_moves("{}, {}; unreduced {a} by sum"), Lines{});
}

// A copy that is given another sharding is a move, and nothing else.
TEST(ExplicitReshards, CopyIsAReshardOfItsOperand) {
  EXPECT_EQ(moves(test::lowered("mesh m = [a: 2, b: 2]\n"
                                "program p(X: f32[8, 8] @ m[{a}, {}]) -> (Y: f32[8, 8] @ m[{b}, {}]) { Y = X }")),
            Lines{"Y: collective_permute -> m[{b}, {}]"});
}

TEST(ExplicitReshards, TwoMeshes) {
  EXPECT_EQ(moves(test::lowered("mesh m = [a: 4]\nmesh n = [u: 2, v: 2]\n"
                                "program p(X: f32[8] @ m[{a}], Z: f32[8] @ n[{v}]) -> (Y: f32[8] @ m[{a}]) {\n"
                                "  Y[i] = X[i] + Z[i] }")),
            (Lines{"Z: all_slice [{u}] -> n[{v, u}]", "Z: collective_permute -> m[{a}]"}));
}

TEST(ExplicitReshards, ShardingOfASingleUse) {
  EXPECT_EQ(moves(test::lowered("use std\nmesh m = [a: 4]\n"
                                "program p(X: f32[8] @ m[{a}]) -> (Y: f32[8] @ m[{}]) { Y = exp(X @ m[{}]) }")),
            Lines{});
}

// Any shardings of the inputs and of the result, on meshes with axes that divide nothing, too.
TEST(ExplicitReshards, RandomShardingsAreConsistent) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (const Sample& sample : samples) {
    Program program = test::lowered(sample.text);
    for (int round = 0; round < 40; ++round) {
      const Mesh mesh = shard_at_random(program, random);
      const Graph& graph = program[program.main];
      SCOPED_TRACE(std::string(sample.name) + ", seed " + std::to_string(seed) + written(program));
      std::vector<SiteShardings> sites = explicit_shardings(program, graph);
      for (const SiteShardings& site : sites) EXPECT_EQ(faults_of(program, program.main, site), Lines{});
      for (const Reshard& reshard : reshards(program, graph, sites)) {
        const Site& site = sites[reshard.site].site;
        ValueId value = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
        EXPECT_EQ(simulate({mesh, reshard.from}, {mesh, reshard.to}, graph[value].type.shape, reshard.steps).failures,
                  Lines{});
      }
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tap::passes
