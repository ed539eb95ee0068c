#include "passes/shardings/propagate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/shardings/axis_algebra.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_program.h"

namespace tap::passes::test {
namespace {

PropagationOptions basic() { return {Strategy::basic, false, false, false, false, false}; }
PropagationOptions aggressive() { return {Strategy::aggressive, false, false, false, false, false}; }
PropagationOptions by_priorities() { return {Strategy::aggressive, true, true, false, false, false}; }

ir::Program propagated(const std::string& text, const PropagationOptions& options) {
  ir::Program program = propagate(lowered(text), options).program;
  EXPECT_EQ(ir::verify(program), std::vector<std::string>{});
  return program;
}

std::string sharding_of(const ir::Program& program, const std::string& name) {
  for (const ir::Value& value : program[program.main].values)
    if (value.name == name) return value.sharding ? to_string(program.meshes, *value.sharding) : "none";
  return "no such value";
}

// The sharding of Y, where X has the given one.
std::string passed_on(const std::string& mesh, const std::string& x, const std::string& signature,
                      const std::string& body, const PropagationOptions& options = basic()) {
  return sharding_of(
      propagated("mesh m = [" + mesh + "] program p(X: " + x + ") -> (Y: " + signature + ") { " + body + " }", options),
      "Y");
}

TEST(Propagation, Trap27MergingNeedsAFullMajorFactor) {
  EXPECT_EQ(passed_on("a: 2, b: 2", "f32[4, 4] @ m[{a}, {b}]", "f32[16]", "Y[4*i + j] = X[i, j]"), "m[{a, ?}]");
  EXPECT_EQ(passed_on("a: 2, b: 2", "f32[2, 4] @ m[{a}, {b}]", "f32[8]", "Y[4*i + j] = X[i, j]"), "m[{a, b, ?}]");
}

TEST(Propagation, Trap28TheMinorFactorMayNotDivide) {
  EXPECT_EQ(passed_on("a: 6", "f32[8] @ m[{a}]", "f32[2, 4]", "Y[i, j] = X[4*i + j]"), "m[{a:(1)2, ?}, {a:(2)3, ?}]");
  EXPECT_EQ(passed_on("a: 3", "f32[8] @ m[{a}]", "f32[2, 4]", "Y[i, j] = X[4*i + j]"), "none");
}

TEST(Propagation, Trap29AnAxisIsSplitOverFactors) {
  EXPECT_EQ(passed_on("a: 4", "f32[8] @ m[{a}]", "f32[2, 4]", "Y[i, j] = X[4*i + j]"), "m[{a:(1)2, ?}, {a:(2)2, ?}]");
}

TEST(Propagation, Trap30CompatiblePrefix) {
  ir::Program program = propagated(
      "mesh m = [a: 16, b: 2] program p(X: f32[8, 8] @ m[{a, ?}, {?}], W: f32[8, 8] @ m[{a:(1)2, ?}, {a:(4)2, ?}]) "
      "-> (Y: f32[8, 8] @ m[{?}, {b, ?}]) { Y[i, j] = X[i, j] + W[i, j] }",
      basic());
  EXPECT_EQ(sharding_of(program, "W"), "m[{a:(1)4, ?}, {a:(4)2, ?}]");
  EXPECT_EQ(sharding_of(program, "Y"), "m[{a:(1)4, ?}, {b, ?}]");
}

TEST(Propagation, Trap31BasicDecidesNoConflict) {
  const std::string text =
      "mesh m = [a: 2] program p(X: f32[8, 8] @ m[{a}, {?}], W: f32[8, 8] @ m[{?}, {a}]) -> (Y: f32[8, 8]) "
      "{ Y[i, j] = X[i, j] + W[i, j] }";
  EXPECT_EQ(sharding_of(propagated(text, basic()), "Y"), "none");
  EXPECT_EQ(sharding_of(propagated(text, aggressive()), "Y"), "m[{a, ?}, {?}]");
}

TEST(Propagation, Trap32ClosednessIsNotPropagated) {
  EXPECT_EQ(passed_on("a: 2", "f32[8] @ m[{a}]", "f32[8]", "Y[i] = exp(X[i])"), "m[{a, ?}]");
}

TEST(Propagation, Trap34ALaterPriorityGrowsAfterTheEarlier) {
  ir::Program program = propagated(
      "mesh m = [a: 2, b: 2] program p(X: f32[8] @ m[{b, ?}p1], W: f32[8] @ m[{b, a, ?}p0]) -> (Y: f32[8]) "
      "{ Y[i] = X[i] + W[i] }",
      by_priorities());
  EXPECT_EQ(sharding_of(program, "X"), "m[{b, a, ?}]");
}

TEST(Propagation, Trap35TwoUsesOfAConstantAreNotTied) {
  ir::Program program = propagated(
      "mesh m = [a: 2, b: 2] program p(X: f32[8] @ m[{a}], W: f32[8]) -> (Y: f32[8], Z: f32[8]) "
      "{ c[i] = f32(1) for i in 0..8  Y[i] = X[i] * c[i]  Z[i] = W[i] * c[i] }",
      {});
  EXPECT_EQ(sharding_of(program, "Y"), "m[{a}]");
  EXPECT_EQ(sharding_of(program, "Z"), "none");
}

TEST(Propagation, Trap36DifferentMeshesDoNotPropagate) {
  ir::Program program = propagated(
      "mesh m = [a: 4] mesh n = [b: 2, a: 2] program p(X: f32[8] @ m[{a}], W: f32[8] @ n[{?}]) -> (Y: f32[8]) "
      "{ Y[i] = X[i] + W[i] }",
      {});
  EXPECT_EQ(sharding_of(program, "Y"), "none");
  // Two names of one mesh are one mesh.
  program = propagated(
      "mesh m = [a: 2] mesh n = [a: 2] program p(X: f32[8] @ m[{a}], W: f32[8] @ n[{?}]) -> (Y: f32[8]) "
      "{ Y[i] = X[i] + W[i] }",
      {});
  EXPECT_EQ(sharding_of(program, "Y"), "m[{a}]");
}

TEST(Propagation, ReplicatedAxesAreKeptFree) {
  EXPECT_EQ(passed_on("a: 2, b: 2", "f32[8] @ m[{a, b}]", "f32[8] @ m[{?}; replicated {b}]", "Y[i] = exp(X[i])"),
            "m[{a, ?}; replicated {b}]");
}

TEST(Propagation, BackwardThroughAProduct) {
  ir::Program program = propagated(
      "mesh m = [a: 2, b: 2] program p(X: f32[8, 4], W: f32[4, 6]) -> (Y: f32[8, 6] @ m[{a}, {b}]) "
      "{ Y[i, o] = sum[k] X[i, k] * W[k, o] }",
      {});
  EXPECT_EQ(sharding_of(program, "X"), "m[{a}, {}]");
  EXPECT_EQ(sharding_of(program, "W"), "m[{}, {b}]");
}

TEST(Propagation, TheStateOfAnIterateHasOneSharding) {
  ir::Program program = propagated(
      "mesh m = [a: 2] program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) { Y = iterate 3 (v = X) { w[i] = v[i] * 2  w } }",
      {});
  EXPECT_EQ(sharding_of(program, "Y"), "m[{a}]");
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Value& value : graph.values)
      EXPECT_EQ(value.sharding ? to_string(program.meshes, *value.sharding) : "none", "m[{a}]")
          << graph.name << " " << value.name;
}

TEST(Propagation, BackwardIntoAnIterate) {
  ir::Program program = propagated(
      "mesh m = [a: 2] program p(X: f32[8]) -> (Y: f32[8] @ m[{a}]) { Y = iterate 3 (v = X) { w[i] = v[i] * 2  w } }",
      {});
  EXPECT_EQ(sharding_of(program, "X"), "m[{a}]");
}

TEST(Propagation, BarriersStopOneDirection) {
  auto program = [](const std::string& x, const std::string& y, const std::string& barrier) {
    return propagated("mesh m = [a: 2] program p(X: f32[8]" + x + ") -> (Y: f32[8]" + y +
                          ") { H[i] = X[i] * 2  Y[i] = H[i] + 1  " + barrier + " }",
                      {});
  };
  EXPECT_EQ(sharding_of(program(" @ m[{a}]", "", "barrier H forward"), "H"), "none");
  EXPECT_EQ(sharding_of(program(" @ m[{a}]", "", "barrier H backward"), "Y"), "m[{a}]");
  EXPECT_EQ(sharding_of(program("", " @ m[{a}]", "barrier H forward"), "X"), "m[{a}]");
  EXPECT_EQ(sharding_of(program("", " @ m[{a}]", "barrier H backward"), "X"), "none");
  EXPECT_EQ(sharding_of(program("", " @ m[{a}]", "barrier H backward"), "H"), "m[{a}]");
  EXPECT_EQ(sharding_of(program(" @ m[{a}]", "", "barrier X forward"), "H"), "none");
}

TEST(Propagation, AGroupSharesOneSharding) {
  ir::Program program = propagated(
      "mesh m = [a: 2] program p(X: f32[8] @ m[{a}], W: f32[8]) -> (Y: f32[8], Z: f32[8]) "
      "{ A[i] = X[i] * 2  B[i] = W[i] * 2  C[i] = W[i] * 3  Y[i] = A[i] + 1  Z[i] = B[i] + C[i]  group A, B  group B, "
      "C }",
      {});
  EXPECT_EQ(sharding_of(program, "C"), "m[{a}]");
  EXPECT_EQ(sharding_of(program, "W"), "m[{a}]");
}

TEST(Propagation, ConflictingGroupMembersAreReportedAndKept) {
  Propagated found =
      propagate(lowered("mesh m = [a: 2, b: 2] program p(X: f32[8] @ m[{a}], W: f32[8] @ m[{b}]) -> (Y: f32[8]) "
                        "{ Y[i] = X[i] + W[i]  group X, W }"));
  ASSERT_EQ(found.conflicts.size(), 1u);
  EXPECT_EQ(found.conflicts[0], "`X` and `W` are grouped but have different shardings, m[{a}] and m[{b}]");
  EXPECT_EQ(sharding_of(found.program, "W"), "m[{b}]");
  // A third value that is tied to what is read of X has the sharding that both are read with.
  found =
      propagate(lowered("mesh m = [a: 2, b: 2] program p(X: f32[8, 8] @ m[{}, {b}], W: f32[8, 8] @ m[{a}, {?}]) -> "
                        "(Y: f32[8, 8], Z: f32[8, 8]) { Y[i, j] = exp(X[i, j])  Z[i, j] = exp(W[i, j])  group X, W }"));
  EXPECT_EQ(sharding_of(found.program, "X"), "m[{}, {b}]");
  EXPECT_EQ(sharding_of(found.program, "Y"), "m[{a}, {b}]");
  EXPECT_EQ(sharding_of(found.program, "Z"), "m[{a}, {b}]");
}

TEST(Propagation, ShardedUseIsASeparateValue) {
  ir::Program program = propagated(
      "mesh m = [a: 2, b: 2] op twice(x: f32[n]) -> (y: f32[n]) { y[i] = 2 * x[i] } "
      "program p(X: f32[8] @ m[{a}]) -> (Y: f32[8], Z: f32[8]) { Y = twice(X @ m[{b}])  Z = twice(X) }",
      {});
  EXPECT_EQ(sharding_of(program, "X"), "m[{a}]");
  EXPECT_EQ(sharding_of(program, "Y"), "m[{b}]");
  EXPECT_EQ(sharding_of(program, "Z"), "m[{a}]");
}

TEST(Propagation, WholeDimsOfKernelsAreNotSharded) {
  ir::Program program = propagated(
      "mesh m = [a: 2, b: 2] extern op f(x: f32[8, 4]) -> (y: f32[8, 4]) { index [i: 8, keep j: 4] "
      "read x at [i, j] shape [1, 1] write y at [i, j] shape [1, 1] kernel \"f\" } "
      "program p(X: f32[8, 4] @ m[{a}, {b}]) -> (Y: f32[8, 4]) { Y = f(X) }",
      {});
  EXPECT_EQ(sharding_of(program, "Y"), "m[{a}, {}]");
}

TEST(Propagation, BiasIsInferredFirstAndPropagatesLast) {
  // The batch of X comes before what a repeated vector would like.
  ir::Program program = propagated(
      "mesh m = [a: 2] program p(X: f32[8, 4] @ m[{a}, {?}], b: f32[4] @ m[{a}]) -> (Y: f32[8, 4]) { Y[i, j] = X[i, j] "
      "+ b[j] }",
      {});
  EXPECT_EQ(sharding_of(program, "Y"), "m[{a}, {}]");
  program = propagated(
      "mesh m = [a: 2] program p(X: f32[8, 4] @ m[{}, {a}], b: f32[4]) -> (Y: f32[8, 4]) { Y[i, j] = X[i, j] + b[j] }",
      {});
  EXPECT_EQ(sharding_of(program, "b"), "m[{a}]");
}

TEST(Propagation, InferredAxesDivideEvenlyAndAreWhole) {
  EXPECT_EQ(passed_on("a: 4", "f32[6] @ m[{?}]", "f32[6] @ m[{a}]", "Y[i] = exp(X[i])", {}), "m[{a}]");
  EXPECT_EQ(passed_on("a: 4, b: 2", "f32[6] @ m[{a}]", "f32[6] @ m[{?}]", "Y[i] = exp(X[i])", {}), "m[{}]");
  EXPECT_EQ(passed_on("a: 4, b: 3", "f32[12] @ m[{b, a}]", "f32[12] @ m[{b, ?}]", "Y[i] = exp(X[i])", {}), "m[{b, a}]");
  EXPECT_EQ(passed_on("a: 4, b: 3", "f32[9] @ m[{b, a}]", "f32[9] @ m[{b, ?}]", "Y[i] = exp(X[i])", {}), "m[{b}]");
  EXPECT_EQ(passed_on("a: 4", "f32[8] @ m[{a}]", "f32[8] @ m[{a:(1)2, ?}]", "Y[i] = exp(X[i])", {}), "m[{a}]");
  ir::Program program = propagated(
      "mesh m = [a: 4] program p(X: f32[8] @ m[{a}]) -> (Y: f32[2, 4]) { H[i, j] = X[4*i + j] for i in 0..2, j in 0..4 "
      " Y[i, j] = H[i, j] }",
      {});
  EXPECT_EQ(sharding_of(program, "H"), "m[{a:(1)2}, {a:(2)2}]");
  EXPECT_EQ(sharding_of(program, "Y"), "m[{}, {}]");
}

TEST(Propagation, OriginsLeadBackToAnnotations) {
  Propagated found = propagate(
      lowered("mesh m = [a: 2] program p(X: f32[8] @ m[{a}]) -> (Y: f32[8]) { H[i] = X[i] * 2  Y[i] = exp(H[i]) }"));
  const ir::Graph& main = found.program[found.program.main];
  std::string chain;
  for (const Origin& origin : found.origins)
    chain += main[origin.value].name + " from " + (origin.from ? main[origin.from->second].name : "?") + "; ";
  EXPECT_EQ(chain, "H from X; Y from H; ");
}

// Whatever is given: what propagation makes is legal, keeps what was given as a prefix, leaves closed dims alone, and says
// no more when it is asked again.
RC_GTEST_PROP(Propagation, IsLegalMonotoneAndIdempotent, ()) {
  static const char* bodies[] = {
      "H[i, j] = X[i, j] + W[i, j]  Y[4*i + j] = H[i, j]",
      "H[i, o] = sum[k] X[i, k] * W[k, o]  Y[4*i + j] = H[i, j]",
      "H[i, j] = X[j, i] * W[i, j]  Y[4*i + j] = H[3 - i, j]",
      "H[i, j] = X[i, j] for i in 0..2  H[2 + i, j] = W[i, j] for i in 0..2  Y[4*i + j] = H[i, j]",
      "s[i] = sum[j] X[i, j]  H[i, j] = s[i] + W[j, i]  Y[i] = H[0, 0] + f32(i) for i in 0..16",
  };
  auto axes = [](bool closed) {
    static const char* open[] = {"?", "a, ?", "b, ?", "a:(1)2, ?", "a:(2)2, ?", "c, ?"};
    static const char* shut[] = {"", "a", "b", "c"};
    return std::string(closed ? shut[*rc::gen::inRange(0, 4)] : open[*rc::gen::inRange(0, 6)]);
  };
  auto given = [&] {
    std::string first = axes(*rc::gen::arbitrary<bool>()), second = axes(*rc::gen::arbitrary<bool>());
    return " @ m[{" + first + "}, {" + second + "}]";
  };
  std::string text = "mesh m = [a: 4, b: 2, c: 3] program p(X: f32[4, 4]" + given() + ", W: f32[4, 4]" + given() +
                     ") -> (Y: f32[16]) { " + bodies[*rc::gen::inRange(0, 5)] + " }";
  auto outcome = tap::test::compile_text(text);
  RC_PRE(outcome.compiled.has_value());  // axes may meet twice in one sharding
  ir::Program before = inline_calls(outcome.compiled->program, {}).program;
  PropagationOptions options = *rc::gen::element(basic(), aggressive(), by_priorities());
  ir::Program after = propagate(before, options).program;
  RC_ASSERT(ir::verify(after) == std::vector<std::string>{});
  const auto &old = before[before.main].values, &now = after[after.main].values;
  for (std::size_t v = 0; v < old.size(); ++v) {
    if (!old[v].sharding) continue;
    for (std::size_t d = 0; d < old[v].sharding->dims.size(); ++d) {
      const ir::DimSharding &had = old[v].sharding->dims[d], &has = now[v].sharding->dims[d];
      RC_ASSERT(is_prefix(after.meshes[0], had.axes, has.axes));
      RC_ASSERT(had.open || had == has);
    }
  }
  RC_ASSERT(propagate(after, options).program == after);
}

// Any program, with something said of its inputs and results: legal, the same again, and the program computes the same.
RC_GTEST_PROP(Propagation, RandomPrograms, ()) {
  auto outcome = tap::test::compile_text(RandomProgram("f32").make());
  RC_PRE(outcome.compiled.has_value());
  ir::Program before = inline_calls(outcome.compiled->program, {}).program;
  before.meshes.push_back({"m", {{"a", 2}, {"b", 3}, {"c", 4}}, {}});
  ir::Graph& main = before.graphs[before.main.index()];
  auto annotate = [&](ir::ValueId v) {
    ir::Sharding sharding{
        ir::MeshId(before.meshes.size() - 1), std::vector<ir::DimSharding>(main[v].type.shape.size()), {}, {}, {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::size_t dim = *rc::gen::inRange<std::size_t>(0, sharding.dims.size() + 1);
      if (dim < sharding.dims.size()) sharding.dims[dim].axes.push_back({ir::AxisId(axis), std::nullopt});
    }
    for (ir::DimSharding& dim : sharding.dims) {
      dim.open = *rc::gen::arbitrary<bool>();
      if (!dim.axes.empty() && *rc::gen::inRange(0, 3) == 0) dim.priority = *rc::gen::inRange(0, 3);
    }
    main.values[v.index()].sharding = std::move(sharding);
  };
  for (const auto* list : {&main.inputs, &main.outputs})
    for (ir::ValueId v : *list)
      if (*rc::gen::inRange(0, 2)) annotate(v);
  PropagationOptions options = *rc::gen::element(basic(), aggressive(), by_priorities(), PropagationOptions{});
  ir::Program after = propagate(before, options).program;
  RC_ASSERT(ir::verify(after) == std::vector<std::string>{});
  const ir::Program again = propagate(after, options).program;
  // What is finished may say more: an input that would have been cut unevenly was made whole, and contradicts nobody any more.
  if (!options.finish && !(again == after))
    RC_FAIL("not the same again:\n" + print(before) + "\nbecomes\n" + print(after) + "\nand then\n" + print(again));
  std::vector<Tensor> inputs = sample_inputs(before);
  expect_equal(ir::interpret(after, after.main, inputs).outputs, ir::interpret(before, before.main, inputs).outputs,
               "after");
}

}  // namespace
}  // namespace tap::passes::test
