// Reshards around operations: what is chosen for given shardings, and, for any shardings of any operation, that devices can
// compute what they are to compute.
#include "passes/explicit_reshards.h"

#include <random>

#include "ir/mesh_position.h"
#include "passes/simulate_collectives.h"
#include "passes/simulate_sites.h"
#include "tests/passes/lowered.h"

namespace tap::passes {
namespace {

using namespace ir;
using Lines = std::vector<std::string>;

// Each move as `value: step`, results behind what computes them.
Lines moves(const Program& program) {
  const Graph& graph = program[program.main];
  std::vector<SiteShardings> sites = explicit_shardings(program, graph);
  Lines lines;
  for (const Reshard& reshard : reshards(program, graph, sites)) {
    const Site& site = sites[reshard.site].site;
    ValueId value = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
    for (const Collective& step : reshard.steps) lines.push_back(graph[value].name + ": " + to_string(step));
  }
  return lines;
}

TEST(ExplicitReshards, NothingToDo) {
  EXPECT_EQ(moves(test::lowered("mesh m = [a: 2, b: 2]\n"
                                "program p(X: f32[8, 8] @ m[{a}, {b}]) -> (Y: f32[8, 8] @ m[{b}, {a}]) {\n"
                                "  Y[i, j] = X[j, i] }")),
            Lines{});
  EXPECT_EQ(moves(test::lowered("program p(X: f32[8, 8]) -> (Y: f32[8, 8]) { Y[i, j] = X[j, i] }")), Lines{});
}

constexpr std::string_view product =
    "program p(X: f32[8, 16] @ m[{}, {a}], W: f32[16, 4] @ m[{a}, {}]) -> (Y: f32[8, 4] @ m[WANTED]) {\n"
    "  Y[i, o] = sum[k] X[i, k] * W[k, o] }";
Lines product_moves(const std::string& wanted) {
  std::string text = "mesh m = [a: 4, b: 2]\n" + std::string(product);
  text.replace(text.find("WANTED"), 6, wanted);
  return moves(test::lowered(text));
}

// The axes of a split reduction: combined everywhere, scattered where the result is cut along them, or left as they are.
TEST(ExplicitReshards, PartialSums) {
  EXPECT_EQ(product_moves("{}, {}"), Lines{"Y: all_reduce {a} -> m[{}, {}]"});
  EXPECT_EQ(product_moves("{a}, {}"), Lines{"Y: reduce_scatter {a} [{a}, {}] -> m[{a}, {}]"});
  EXPECT_EQ(product_moves("{a:(1)2}, {}"),
            (Lines{"Y: reduce_scatter {a:(1)2} [{a:(1)2}, {}] -> m[{a:(1)2}, {}; unreduced {a:(2)2} by sum]",
                   "Y: all_reduce {a:(2)2} -> m[{a:(1)2}, {}]"}));
  EXPECT_EQ(product_moves("{}, {}; unreduced {a} by sum"), Lines{});
}

// A copy that is given another sharding is a move, and nothing else.
TEST(ExplicitReshards, ACopyFollowsWhatItCopies) {
  EXPECT_EQ(moves(test::lowered("mesh m = [a: 2, b: 2]\n"
                                "program p(X: f32[8, 8] @ m[{a}, {}]) -> (Y: f32[8, 8] @ m[{b}, {}]) { Y = X }")),
            Lines{"Y: collective_permute -> m[{b}, {}]"});
}

TEST(ExplicitReshards, TwoMeshesMeet) {
  EXPECT_EQ(moves(test::lowered("mesh m = [a: 4]\nmesh n = [u: 2, v: 2]\n"
                                "program p(X: f32[8] @ m[{a}], Z: f32[8] @ n[{v}]) -> (Y: f32[8] @ m[{a}]) {\n"
                                "  Y[i] = X[i] + Z[i] }")),
            (Lines{"Z: all_slice [{u}] -> n[{v, u}]", "Z: collective_permute -> m[{a}]"}));
}

TEST(ExplicitReshards, AUseOfItsOwn) {
  EXPECT_EQ(moves(test::lowered("use std\nmesh m = [a: 4]\n"
                                "program p(X: f32[8] @ m[{a}]) -> (Y: f32[8] @ m[{}]) { Y = exp(X @ m[{}]) }")),
            Lines{});
}

struct Sample {
  const char* name;
  const char* text;
};
constexpr Sample samples[] = {
    {"product", "program p(X: f32[6, 8], W: f32[8, 5]) -> (Y: f32[6, 5]) { Y[i, o] = sum[k] X[i, k] * W[k, o] }"},
    {"batched",
     "program p(X: f32[4, 6, 8], W: f32[4, 8, 5]) -> (Y: f32[4, 6, 5]) {\n"
     "  Y[b, i, o] = sum[k] X[b, i, k] * W[b, k, o] }"},
    {"reshape", "program p(X: f32[8, 6]) -> (Y: f32[4, 12]) { Y[i, 6*j + k] = X[2*i + j, k] for j in 0..2 }"},
    {"transpose", "program p(X: f32[8, 6, 4]) -> (Y: f32[4, 8, 6]) { Y[i, j, k] = X[j, k, i] }"},
    {"largest", "program p(X: f32[8, 6]) -> (Y: f32[6]) { Y[j] = max[i] X[i, j] }"},
    {"reverse", "program p(X: f32[8, 6]) -> (Y: f32[8, 6]) { Y[i, j] = X[7 - i, j] }"},
    {"row", "program p(X: f32[8, 6]) -> (Y: f32[6]) { Y[j] = X[3, j] }"},
    {"outer", "program p(X: f32[8], Z: f32[6]) -> (Y: f32[8, 6]) { Y[i, j] = X[i] * Z[j] }"},
    {"diagonal", "program p(X: f32[8, 8]) -> (Y: f32[8]) { Y[i] = X[i, i] }"},
    {"lookup", "program p(T: f32[8, 6], I: i64[12]) -> (Y: f32[12, 6]) { Y[n, d] = T[I[n], d] }"},
    {"convolution",
     "program p(X: f32[2, 3, 9], W: f32[4, 3, 2]) -> (Y: f32[2, 4, 8]) {\n"
     "  Y[b, o, x] = sum[c, u] X[b, c, x + u] * W[o, c, u] }"},
    {"repeat", "program p(X: f32[6]) -> (Y: f32[24]) { Y[4*i + r] = X[i] for r in 0..4 }"},
};

// Any shardings of the inputs and of the result, on meshes with axes that divide nothing, too.
TEST(ExplicitReshards, AnyShardingsMakeSense) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const Mesh meshes[] = {{"m", {{"a", 4}, {"b", 2}, {"c", 2}}, {}}, {"m", {{"a", 6}, {"b", 2}, {"c", 3}}, {}}};
  for (const Sample& sample : samples) {
    Program program = test::lowered(sample.text);
    for (int round = 0; round < 40; ++round) {
      const Mesh& mesh = meshes[below(2)];
      program.meshes = {mesh};
      for (Value& value : program.graphs[program.main.index()].values) {
        value.sharding.reset();
        if (below(6) == 0) continue;
        Sharding s{"m", std::vector<DimSharding>(value.type.shape.size()), {}, {}, ""};
        for (int tries = 0; tries < 4 && !s.dims.empty(); ++tries) {
          const MeshAxis& axis = mesh.axes[below(3)];
          AxisRef ref{axis.name, {}};
          if (axis.size % 4 == 0 && below(2)) ref = {axis.name, SubAxis{below(2) ? 1 : 2, 2}};
          if (!overlap(mesh, used_axes(s), {ref})) s.dims[below(s.dims.size())].axes.push_back(ref);
        }
        value.sharding = canonical(mesh, s);
      }
      const Graph& graph = program[program.main];
      std::string trace = std::string(sample.name) + ", seed " + std::to_string(seed);
      for (const Value& value : graph.values)
        trace += "\n" + value.name + (value.sharding ? " @ " + to_string(*value.sharding) : "");
      SCOPED_TRACE(trace);
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
