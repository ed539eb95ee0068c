// The worked example of the Tapestry text, from Linear and ReLU to fused shards; and Linear split over each of its dims. Each stage
// is a program produced by the passes, printed by shard_notation.h; all compute the same.
#include "ir/block_program.h"
#include "passes/fusion/fuse.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"
#include "tests/passes/shard_notation.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

const char* layer_text = R"(
op Linear(X: T[n, k], W: T[k, m], b: T[m]) -> (Z: T[n, m]) where T: number {
  Z[batch, out] = b[out] + sum[in] X[batch, in] * W[in, out]
}
op ReLU(Z: T[n, m]) -> (Y: T[n, m]) where T: number {
  Y[batch, out] = max(Z[batch, out], 0)
}
program walk(X: f64[8, 4], W: f64[4, 6], b: f64[6]) -> (Y: f64[8, 6]) {
  Z = Linear(X, W, b)
  Y = ReLU(Z)
}
)";

Program source() {
  auto outcome = tap::test::compile_text(layer_text);
  EXPECT_TRUE(outcome.compiled) << outcome.messages;
  return outcome.compiled->program;
}

// What a plan makes of the program, proved and run.
Program planned(const std::string& plan_text) {
  auto parsed = parse_plan("plan 2\n" + plan_text);
  EXPECT_TRUE(std::holds_alternative<Plan>(parsed));
  const Plan plan = std::get<Plan>(parsed);
  Program before = inline_calls(source(), {}).program;
  PlannedResult fused = apply_fusions(before, plan);
  EXPECT_TRUE(fused.problems.empty()) << fused.problems[0].message;
  SplitResult split = apply_splits(fused.program, plan);
  EXPECT_TRUE(split.problems.empty()) << split.problems[0].message;
  expect_same_meaning(before, split.program);
  return split.program;
}

std::string shards(const Program& program, std::set<std::string> unnamed = {}, bool open_groups = false) {
  const Graph& graph = program[program.main];
  ShardNotation notation{{}, open_groups};
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (unnamed.count(graph.values[v].name)) notation.unnamed.insert(ValueId(v));
  BlockProgram blocks = expand(program);
  return "\n" + shards_as_text(program, blocks.graphs[program.main.index()], notation);
}

const std::string linear = "fuse \"Z.Z.sum\", Z over batch\n";
const std::string shard_z = linear + "split Z dim batch into 2\n";
const std::string shard_y = shard_z + "split Y dim batch into 2\n";
const std::string fused = "fuse \"Z.Z.sum\", Z, Y over batch\nsplit Y dim batch into 2\n";

TEST(SplitExamples, Source) {
  EXPECT_EQ(shards(source()), R"(
Z = Linear(X, W, b)
Y = ReLU(Z)
)");
}

TEST(SplitExamples, ShardX) {
  EXPECT_EQ(shards(planned(shard_z), {"X", "Z"}), R"(
Z = (Linear(X[..4, ...], W, b);
     Linear(X[4.., ...], W, b))
Y = ReLU(Z)
)");
}

TEST(SplitExamples, ShardZ) {
  EXPECT_EQ(shards(planned(shard_z)), R"(
X₁ = X[..4, ...]
X₂ = X[4.., ...]
Z₁ = Linear(X₁, W, b)
Z₂ = Linear(X₂, W, b)
Z = (Z₁; Z₂)
Y = ReLU(Z)
)");
}

TEST(SplitExamples, ForwardZ) {
  EXPECT_EQ(shards(planned(shard_y), {"Y"}), R"(
X₁ = X[..4, ...]
X₂ = X[4.., ...]
Z₁ = Linear(X₁, W, b)
Z₂ = Linear(X₂, W, b)
Y = (ReLU(Z₁);
     ReLU(Z₂))
)");
}

TEST(SplitExamples, ShardY) {
  EXPECT_EQ(shards(planned(shard_y)), R"(
X₁ = X[..4, ...]
X₂ = X[4.., ...]
Z₁ = Linear(X₁, W, b)
Z₂ = Linear(X₂, W, b)
Y₁ = ReLU(Z₁)
Y₂ = ReLU(Z₂)
Y = (Y₁; Y₂)
)");
}

TEST(SplitExamples, Compose) {
  EXPECT_EQ(shards(planned(fused), {}, true), R"(
X₁ = X[..4, ...]
X₂ = X[4.., ...]
Y₁ = ReLU(Linear(X₁, W, b))
Y₂ = ReLU(Linear(X₂, W, b))
Y = (Y₁; Y₂)
)");
}

TEST(SplitExamples, Fuse) {
  EXPECT_EQ(shards(planned(fused)), R"(
X₁ = X[..4, ...]
X₂ = X[4.., ...]
Y₁ = (Linear ⇒ ReLU)(X₁, W, b)
Y₂ = (Linear ⇒ ReLU)(X₂, W, b)
Y = (Y₁; Y₂)
)");
}

// Index counting: Linear as one operation over some of its dims, and what it reads and writes at each of their points. (The
// text prints W_out twice where an extent of another dim belongs: of P_W over out, whose rows are `in`, and of P_Y.)
std::string projections(const std::string& dims) {
  Program program = planned("fuse \"Z.Z.sum\", Z over " + dims + "\n");
  for (const Operation& operation : program[program.main].operations)
    if (program[operation.op].region()) return "\n" + projections_as_text(program[operation.op], operation.names);
  return "no group";
}

TEST(SplitExamples, LinearOverBatch) {
  EXPECT_EQ(projections("batch"), R"(
P_X(i) = ZRange{ start: [i_batch, 0], shape: [1, 4] }
P_W(i) = ZRange{ start: [0, 0], shape: [4, 6] }
P_b(i) = ZRange{ start: [0], shape: [6] }
P_Z(i) = ZRange{ start: [i_batch, 0], shape: [1, 6] }
)");
  EXPECT_EQ(shards(planned(linear + "split Z dim batch into [0, 3, 8]\n")), R"(
X₁ = X[..3, ...]
X₂ = X[3.., ...]
Z₁ = Linear(X₁, W, b)
Z₂ = Linear(X₂, W, b)
Z = (Z₁; Z₂)
Y = ReLU(Z)
)");
}

TEST(SplitExamples, LinearOverOut) {
  EXPECT_EQ(projections("out"), R"(
P_X(i) = ZRange{ start: [0, 0], shape: [8, 4] }
P_W(i) = ZRange{ start: [0, i_out], shape: [4, 1] }
P_b(i) = ZRange{ start: [i_out], shape: [1] }
P_Z(i) = ZRange{ start: [0, i_out], shape: [8, 1] }
)");
  EXPECT_EQ(shards(planned("fuse \"Z.Z.sum\", Z over out\nsplit Z dim out into 2\n")), R"(
W₁ = W[.., ..3]
W₂ = W[.., 3..]
b₁ = b[..3]
b₂ = b[3..]
Z₁ = Linear(X, W₁, b₁)
Z₂ = Linear(X, W₂, b₂)
Z = (Z₁, Z₂)
Y = ReLU(Z)
)");
}

// Over `in` a sum becomes partial sums with a block dim and a second stage that combines them; the bias is added once.
TEST(SplitExamples, LinearOverIn) {
  Program program = planned("split \"Z.Z.sum\" dim in into 2\n");
  const Graph& main = program[program.main];
  const Operation& partial = main.operations[0];
  EXPECT_EQ("\n" + projections_as_text(program[partial.op], partial.names), R"(
P_X(i) = ZRange{ start: [i_batch, i_in], shape: [1, 1] }
P_W(i) = ZRange{ start: [i_in, i_out], shape: [1, 1] }
P_Z.sum.partial(i) = ZRange{ start: [i_in_block, i_batch, i_out], shape: [1, 1, 1] }
)");
  EXPECT_EQ(shards(program), R"(
X₁ = X[.., ..2]
X₂ = X[.., 2..]
W₁ = W[..2, ...]
W₂ = W[2.., ...]
Z.Z.sum.partial₁ = Linear.Z.sum(X₁, W₁)
Z.Z.sum.partial₂ = Linear.Z.sum(X₂, W₂)
Z.Z.sum.partial = (Z.Z.sum.partial₁; Z.Z.sum.partial₂)
Z.Z.sum = Linear.Z.sum(Z.Z.sum.partial)
Z = Linear(b, Z.Z.sum)
Y = ReLU(Z)
)");
}

}  // namespace
}  // namespace tap::passes::test
