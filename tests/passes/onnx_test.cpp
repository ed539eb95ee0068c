// Shardings by ONNX's formalism: each rule with a program that keeps it and one that does not; conversions to our form and
// back, judged device by device.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "ir/shardings/mesh_position.h"
#include "ir/shardings/onnx_meshes.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/onnx_program.h"
#include "tests/ir/all_boxes.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_shardings.h"

namespace tap::passes::onnx::test {
namespace {

using ir::onnx::Devices;
using ir::onnx::Rule;
using ir::onnx::Spec;
using passes::test::lowered;
using passes::test::samples;
using passes::test::shard_at_random;

// Axis 0 in so many shards, and so on; devices by shard.
Spec sharded(std::vector<std::int64_t> shards, std::vector<Devices> devices) {
  Placed placed{std::vector<ir::onnx::Parts>(shards.size()), std::move(devices)};
  for (std::size_t a = 0; a < shards.size(); ++a)
    if (shards[a] > 1) placed.axes[a] = {{0, shards[a]}};
  return spec_of(placed);
}

Inferred inferred(const std::string& text, std::vector<TensorSpec> specs, Reduced reduced = Reduced::on_all) {
  return infer(lowered("program p" + text), {"c", 8, {{"Y", std::move(specs)}}}, reduced);
}
// The name of the first rule that is broken; else the last value's place, which is Y.
std::string outcome(const std::string& text, std::vector<TensorSpec> specs, Reduced reduced = Reduced::on_all) {
  ir::Program program = lowered("program p" + text);
  Inferred found = infer(program, {"c", 8, {{"Y", std::move(specs)}}}, reduced);
  if (!found.findings.empty()) return std::string(info(found.findings[0].broken.rule).name);
  for (std::size_t v = 0; v < found.values.size(); ++v)
    if (program[program.main].values[v].name == "Y") return to_string(found.values[v]);
  return "no Y";
}

const std::string product = "(X: f32[8, 4], W: f32[4, 6]) -> (Y: f32[8, 6]) { Y[i, o] = sum[k] X[i, k] * W[k, o] }";
const std::string add = "(A: f32[8, 6], B: f32[8, 6]) -> (Y: f32[8, 6]) { Y[i, j] = A[i, j] + B[i, j] }";
const std::string outer = "(A: f32[8, 1], B: f32[1, 6]) -> (Y: f32[8, 6]) { Y[i, j] = A[i, 0] + B[0, j] }";
const std::string bias = "(X: f32[8, 6], b: f32[6]) -> (Y: f32[8, 6]) { Y[i, j] = X[i, j] + b[j] }";
const std::string convolution =
    "(X: f32[2, 3, 10], W: f32[4, 3, 3]) -> (Y: f32[2, 4, 8]) { Y[b, o, x] = sum[c, u] X[b, c, x + u] * W[o, c, u] }";
const std::string pooling = "(X: f32[3, 16]) -> (Y: f32[3, 8]) { Y[c, i] = max[u in 0..2] X[c, 2*i + u] }";

TEST(Onnx, DefaultIsUnsharded) { EXPECT_EQ(outcome(product, {}), "unsharded"); }

TEST(Onnx, ElementwiseResultsFollowTheirInputs) {
  Spec rows = sharded({2, 1}, {{1}, {0}});
  EXPECT_EQ(outcome(add, {{"A", rows}, {"B", rows}}), to_string(rows));
  EXPECT_EQ(outcome("(X: f32[8, 6]) -> (Y: f32[8, 6]) { Y = exp(X) }", {{"X", rows}}), to_string(rows));
}

TEST(Onnx, ElementwiseInputsMustAgree) {
  Spec rows = sharded({2, 1}, {{0}, {1}}), columns = sharded({1, 2}, {{0}, {1}});
  EXPECT_EQ(outcome(add, {{"A", rows}, {"B", columns}}), "same-sharding");
  EXPECT_EQ(outcome(add, {{"A", rows}}), "same-sharding");
  EXPECT_EQ(outcome(add, {{"A", rows}, {"B", sharded({2, 1}, {{1}, {0}})}}), "same-sharding");
  EXPECT_EQ(outcome(product, {{"X", columns}}), "same-sharding");  // the axis that is contracted
}

TEST(Onnx, Trap19BroadcastAxesCompose) {
  Spec a = sharded({2, 1}, {{0, 1}, {2, 3}});
  EXPECT_EQ(outcome(outer, {{"A", a}, {"B", sharded({1, 2}, {{0, 2}, {1, 3}})}}),
            to_string(sharded({2, 2}, {{0}, {1}, {2}, {3}})));
  EXPECT_EQ(outcome(outer, {{"A", a}, {"B", sharded({1, 2}, {{0, 1}, {2, 3}})}}), "composable");
  EXPECT_EQ(outcome(product, {{"X", a}, {"W", sharded({1, 2}, {{0, 1}, {2, 3}})}}), "composable");
}

TEST(Onnx, BroadcastInputIsReplicatedOnAllDevices) {
  Spec rows = sharded({2, 1}, {{0}, {1}});
  EXPECT_EQ(outcome(bias, {{"X", rows}}), to_string(rows));
  EXPECT_EQ(outcome(bias, {{"X", rows}, {"b", sharded({1}, {{0, 1, 5}})}}), to_string(rows));
  EXPECT_EQ(outcome(bias, {{"X", rows}, {"b", sharded({1}, {{0}})}}), "broadcast-replicated");
}

// Without an axis that two inputs have they need not be on the same devices: the result is where both are.
TEST(Onnx, InputsWithoutACommonAxisCompose) {
  auto on = [](std::size_t rank, Devices devices) { return sharded(std::vector<std::int64_t>(rank, 1), {devices}); };
  const std::string one = "(A: f32[1, 1], B: f32[8, 6]) -> (Y: f32[8, 6]) { Y[i, j] = A[0, 0] + B[i, j] }";
  EXPECT_EQ(outcome(one, {{"A", on(2, {1, 2})}, {"B", on(2, {1})}}), "{device = [1]}");
  EXPECT_EQ(outcome(one, {{"A", on(2, {1})}, {"B", on(2, {1, 2})}}), "broadcast-replicated");
  EXPECT_EQ(outcome(outer, {{"A", on(2, {0, 1})}, {"B", on(2, {2, 3})}}), "composable");
  EXPECT_EQ(outcome(outer, {{"A", on(2, {0, 1, 2, 3})}, {"B", on(2, {0, 1})}}), "broadcast-replicated");
  EXPECT_EQ(outcome(add, {{"A", on(2, {0, 1})}, {"B", on(2, {0})}}), "same-sharding");
}

TEST(Onnx, AnEmptyAxisKeepsItsDevices) {
  Spec rows = sharded({2, 1}, {{0}, {1}});
  EXPECT_EQ(outcome("(X: f32[0, 4]) -> (Y: f32[0, 4]) { Y = exp(X) }", {{"X", rows}}), to_string(rows));
  EXPECT_EQ(outcome("(X: f32[0, 4]) -> (Y: f32[4]) { Y[j] = sum[i] X[i, j] }", {{"X", rows}}),
            to_string(sharded({1}, {{0, 1}})));
  EXPECT_EQ(outcome("(X: f32[0, 4]) -> (Y: f32[0]) { Y[4*i + j] = X[i, j] }", {{"X", rows}}),
            to_string(sharded({1}, {{0, 1}})));
}

TEST(Onnx, SeveralWritersNeedTheirCommonDevices) {
  const std::string concatenated =
      "(A: f32[8, 4], B: f32[8, 2]) -> (Y: f32[8, 6]) { Y[i, j] = A[i, j] for j in 0..4\n Y[i, 4 + j] = B[i, j] }";
  Spec rows = sharded({2, 1}, {{0, 1}, {2, 3}}), columns = sharded({1, 2}, {{0}, {1}});
  EXPECT_EQ(outcome(concatenated, {{"A", rows}, {"B", rows}}), to_string(rows));
  EXPECT_EQ(outcome(concatenated, {{"A", rows}, {"B", sharded({2, 1}, {{1}, {3}})}}),
            to_string(sharded({2, 1}, {{1}, {3}})));
  EXPECT_EQ(outcome(concatenated, {{"A", rows}, {"B", sharded({2, 1}, {{4}, {5}})}}), "composable");
  EXPECT_EQ(outcome(concatenated, {{"A", rows}}), "same-sharding");
  EXPECT_EQ(outcome(concatenated, {{"A", columns}, {"B", columns}}), "composable");
  Spec both = sharded({1, 2}, {{0, 1}, {0, 1, 2}});
  EXPECT_EQ(outcome(concatenated, {{"A", both}, {"B", both}}), to_string(sharded({1, 2}, {{0, 1}, {0, 1}})));
  // A part that is made of nothing is where the others are.
  const std::string padded =
      "(A: f32[8, 4]) -> (Y: f32[8, 6]) { Y[i, j] = A[i, j] for j in 0..4\n Y[i, j] = 0 for j in 4..6 }";
  EXPECT_EQ(outcome(padded, {{"A", rows}}), to_string(rows));
  // Cells of both in turn: what a device has of both is what it has of the result.
  const std::string in_turn = "(A: f32[8], B: f32[8]) -> (Y: f32[16]) { Y[2*i] = A[i]\n Y[2*i + 1] = B[i] }";
  Spec halves = sharded({2}, {{0}, {1}});
  EXPECT_EQ(outcome(in_turn, {{"A", halves}, {"B", halves}}), to_string(halves));
  const std::string triangles =
      "(A: f32[4, 4]) -> (Y: f32[4, 4]) { Y[i, j] = A[i, j] for j in 0..i+1\n Y[i, j] = -A[i, j] for j in i+1..4 }";
  EXPECT_EQ(outcome(triangles, {{"A", sharded({2, 2}, {{0}, {1}, {2}, {3}})}}),
            to_string(sharded({2, 2}, {{0}, {1}, {2}, {3}})));
}

// Y is all of its writers, Y@1 the second alone, and the innermost node decides.
TEST(Onnx, NodesOfSeveralWriters) {
  const std::string text = "(A: f32[4], B: f32[4]) -> (Y: f32[8]) { Y[i] = A[i] for i in 0..4\n Y[4 + i] = B[i] }";
  ir::Program program = lowered("program p" + text);
  Spec one = sharded({1}, {{3}}), two = sharded({1}, {{3, 5}}), four = sharded({1}, {{4}});
  Inferred found = infer(program, {"c", 8, {{"Y", {{"A", one}, {"B", four}}}, {"Y@1", {{"B", two}}}}});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].broken.message, "the spec at the node `Y@1` replaces it");
  EXPECT_EQ(found.findings[0].at, (std::vector<SpecRef>{{0, 1}}));
  EXPECT_EQ(to_string(found.values.back()), to_string(one));
  EXPECT_EQ(found.operations, (std::vector<std::vector<std::string>>{{"Y@0", "Y@1"}, {"Y@1"}}));
}

TEST(Onnx, FindingsNameTheirSpecs) {
  Spec rows = sharded({2, 1}, {{0}, {1}}), columns = sharded({1, 2}, {{0}, {1}});
  Inferred found = inferred(add, {{"B", columns}, {"A", rows}});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].at, (std::vector<SpecRef>{{0, 1}, {0, 0}}));
  found = inferred(add, {{"A", Spec{{0, 9}, {}, {{0, {{std::nullopt, 2}}}}}}});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].broken.field, ir::onnx::Field::device);
}

TEST(Onnx, AnAxisOfSizeOneIsNotSharded) { EXPECT_EQ(outcome(outer, {{"A", sharded({1, 2}, {{0}, {1}})}}), "size-one"); }

TEST(Onnx, Trap20ReductionResultIsOnItsDevices) {
  Spec x = sharded({2, 2}, {{0}, {1}, {4}, {5}}), w = sharded({2, 1}, {{0, 4}, {1, 5}});
  EXPECT_EQ(outcome(product, {{"X", x}, {"W", w}}), to_string(sharded({2, 1}, {{0, 1}, {4, 5}})));
  EXPECT_EQ(outcome(product, {{"X", x}, {"W", w}}, Reduced::on_one), to_string(sharded({2, 1}, {{0}, {4}})));
  EXPECT_EQ(
      outcome("(X: f32[8, 6]) -> (Y: f32[8, 1]) { Y[i, 0] = sum[j] X[i, j] }", {{"X", sharded({1, 2}, {{3}, {6}})}}),
      to_string(sharded({1, 1}, {{3, 6}})));
}

TEST(Onnx, OnlyParallelLoopsAreSharded) {
  const std::string lookup = "(T: f32[8, 6], I: i64[12]) -> (Y: f32[12, 6]) { Y[n, d] = T[I[n], d] }";
  EXPECT_EQ(outcome(lookup, {{"T", sharded({2, 1}, {{0}, {1}})}}), "parallel-loop");
  EXPECT_EQ(outcome(lookup, {{"T", sharded({1, 2}, {{0}, {1}})}}), to_string(sharded({1, 2}, {{0}, {1}})));
}

TEST(Onnx, ConvolutionPoolingAndNormalisationAreFactors) {
  // Positions, channels that come in, channels that go out.
  EXPECT_EQ(outcome(convolution, {{"X", sharded({1, 1, 2}, {{0}, {1}})}}), to_string(sharded({1, 1, 2}, {{0}, {1}})));
  EXPECT_EQ(
      outcome(convolution, {{"X", sharded({1, 3, 1}, {{0}, {1}, {2}})}, {"W", sharded({1, 3, 1}, {{0}, {1}, {2}})}}),
      to_string(sharded({1, 1, 1}, {{0, 1, 2}})));
  EXPECT_EQ(outcome(convolution, {{"X", sharded({1, 3, 1}, {{0}, {1}, {2}})}}), "same-sharding");
  EXPECT_EQ(outcome(convolution, {{"W", sharded({2, 1, 1}, {{0}, {1}})}}), to_string(sharded({1, 2, 1}, {{0}, {1}})));
  EXPECT_EQ(outcome(pooling, {{"X", sharded({1, 4}, {{0}, {1}, {2}, {3}})}}),
            to_string(sharded({1, 4}, {{0}, {1}, {2}, {3}})));
  Spec rows = sharded({2, 1}, {{0}, {1}});
  ir::Program norm =
      lowered("program p(X: f32[8, 6]) -> (Y: f32[8, 6]) { m[i] = max[j] X[i, j]\n Y[i, j] = X[i, j] - m[i] }");
  Inferred found = infer(norm, {"c", 8, {{"m", {{"X", rows}}}, {"Y", {{"X", rows}}}}});
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(to_string(found.values.at(1)), to_string(sharded({2}, {{0}, {1}})));
  EXPECT_EQ(to_string(found.values.at(2)), to_string(rows));
}

TEST(Onnx, FusedAxisHasSeveralSimpleShardings) {
  const std::string reshape = "(X: f32[8, 6]) -> (Y: f32[48]) { Y[6*i + j] = X[i, j] }";
  Spec both{{0, 1, 2, 3}, {}, {{0, {{8, 2}, {6, 2}}}}};
  EXPECT_EQ(outcome(reshape, {{"X", sharded({2, 2}, {{0}, {1}, {2}, {3}})}}), to_string(both));
  EXPECT_EQ(outcome(reshape, {{"X", sharded({8, 1}, {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}})}}),
            to_string(sharded({8}, {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}})));
  const std::string unflattened = "(X: f32[48]) -> (Y: f32[8, 6]) { Y[i, j] = X[6*i + j] }";
  EXPECT_EQ(outcome(unflattened, {{"X", both}}), to_string(sharded({2, 2}, {{0}, {1}, {2}, {3}})));
  EXPECT_EQ(outcome(unflattened, {{"X", sharded({5}, {{0}, {1}, {2}, {3}, {4}})}}), "aligned-cuts");
}

TEST(Onnx, IterateNeedsWholeTensors) {
  const std::string text =
      "(X: f32[8, 6]) -> (Y: f32[8, 6]) {\n  Y = iterate 2 (x = X) { y[i, j] = 2 * x[i, j]; y }\n}";
  EXPECT_EQ(outcome(text, {}), "unsharded");
  EXPECT_EQ(outcome(text, {{"X", sharded({2, 1}, {{0}, {1}})}}), "control-flow");
}

TEST(Onnx, OutputSpecMayDifferFromItsInputs) {
  Spec rows = sharded({2, 1}, {{0}, {1}}), columns = sharded({1, 3}, {{7}, {6}, {5}});
  EXPECT_EQ(outcome(add, {{"A", rows}, {"B", rows}, {"Y", columns}}), to_string(columns));
}

TEST(Onnx, InputHasTheSpecOfItsProducer) {
  Spec rows = sharded({2, 1}, {{0}, {1}});
  ir::Program program = lowered("program p(X: f32[8, 6]) -> (Y: f32[8, 6]) { H = exp(X)\n Y = abs(H) }");
  Inferred found = infer(program, {"c", 2, {{"H", {{"X", rows}}}}});
  EXPECT_TRUE(found.findings.empty());
  for (std::size_t v = 1; v < found.values.size(); ++v) EXPECT_EQ(to_string(found.values[v]), to_string(rows));
  EXPECT_TRUE(found.values[0].is_unsharded());
}

TEST(Onnx, LimitsOfMeshes) {
  std::vector<ir::Mesh> meshes;
  auto limit = [&](const Placed& placed) {
    auto found = ir::onnx::sharding_of(placed, {8}, meshes);
    auto* broken = std::get_if<Broken>(&found);
    return broken ? std::string(info(broken->rule).name) : to_string(meshes, std::get<ir::Sharding>(found));
  };
  EXPECT_EQ(limit({{{{8, 2}}}, {{0}, {1}}}), "devices[{d}]");
  EXPECT_EQ(limit({{{{8, 2}}}, {{0, 2}, {1, 3}}}), "devices2[{d:(2)2}]");
  EXPECT_EQ(limit({{{{8, 2}}}, {{0, 3}, {1, 2}}}), "devices3[{d:(1)2}]");
  EXPECT_EQ(limit({{{{8, 2}}}, {{2}, {3}}}), "mesh");
  EXPECT_EQ(limit({{{{8, 2}}}, {{0, 1}, {2}}}), "mesh");
  EXPECT_EQ(limit({{{{8, 2}}}, {{0, 1}, {1, 2}}}), "mesh");
  EXPECT_EQ(limit({{{{4, 2}, {2, 2}}}, {{0}, {1}, {2}, {3}}}), "contiguous-blocks");
  EXPECT_EQ(limit({{{}}, {{5}}}), "devices4[{}]");
}

// Ours to theirs and back: each device has the same cells.
RC_GTEST_PROP(Onnx, ShardingsRoundTrip, (std::uint32_t seed)) {
  std::mt19937 random(seed);
  ir::Program program = lowered(samples[seed % std::size(samples)].text);
  ir::Mesh mesh = shard_at_random(program, random);
  if (seed % 3 == 0) {
    for (std::int64_t d = 0; d < device_count(mesh); ++d) mesh.devices.push_back(d);
    std::shuffle(mesh.devices.begin(), mesh.devices.end(), random);
  }
  std::vector<ir::Mesh> meshes;
  for (const ir::Value& value : program[program.main].values) {
    if (!value.sharding) continue;
    auto placed = std::get<Placed>(ir::onnx::placed_of(mesh, *value.sharding, value.type.shape));
    Spec spec = spec_of(placed);
    RC_ASSERT(std::get<Placed>(ir::onnx::place(spec, value.type.shape, device_count(mesh))) == placed);
    auto again = std::get<ir::Sharding>(ir::onnx::sharding_of(placed, value.type.shape, meshes));
    const ir::Mesh& new_mesh = meshes[again.mesh.index()];
    RC_ASSERT(faults_of(again, new_mesh).empty());
    for (const ir::Box& box : all_boxes(mesh, *value.sharding, value.type.shape))
      RC_ASSERT(holders(mesh, *value.sharding, value.type.shape, box) ==
                holders(new_mesh, again, value.type.shape, box));
    RC_ASSERT(std::get<Placed>(ir::onnx::placed_of(new_mesh, again, value.type.shape)) == placed);
  }
}

// What was inferred is a program that the verifier accepts, and written as specs it is inferred again.
TEST(Onnx, AnnotatedProgramsAreWhole) {
  ir::Program program = lowered("program p" + product);
  Inferred found =
      inferred(product, {{"X", sharded({2, 2}, {{3}, {1}, {0}, {2}})}, {"W", sharded({2, 1}, {{0, 3}, {1, 2}})}});
  ASSERT_TRUE(found.findings.empty());
  Annotated ours = annotated(program, found);
  EXPECT_TRUE(ours.findings.empty());
  EXPECT_EQ(ir::verify(ours.program), std::vector<std::string>{});
  WrittenSpecs written = specs_of(ours.program);
  EXPECT_EQ(infer(program, written.shardings).values, found.values);
}

}  // namespace
}  // namespace tap::passes::onnx::test
