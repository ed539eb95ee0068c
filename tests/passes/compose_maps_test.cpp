// Maps composed into their readers: when, how, and what is claimed.
#include "passes/simplify/compose_maps.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "passes/pass_manager.h"
#include "tests/frontend/compile_source.h"

namespace tap::passes {
namespace {

using namespace tap::ir;

struct Lowered {
  Program before;
  Passed passed;
  const Graph& main() const { return passed.program[passed.program.main]; }
  // Cells of the operation that writes the value.
  std::string cells(const std::string& value) const {
    for (const Operation& operation : main().operations) {
      const Operator& op = passed.program[operation.op];
      if (main()[operation.results[0]].name == value && op.map()) return print_cell(op, op.map()->values[0]);
      if (main()[operation.results[0]].name == value && op.reduce()) return print_cell(op, op.reduce()->operands[0]);
    }
    return "no operation writes " + value;
  }
  std::string remark_on(const std::string& operation) const {
    for (const Remark& remark : passed.remarks)
      if (remark.operation == operation) return remark.message;
    return "";
  }
};

Lowered lowered(const std::string& text,
                std::vector<const char*> names = {"inline_calls", "compose_maps", "simplify_cells"}) {
  tap::test::Outcome outcome = tap::test::compile_text(text);
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  std::vector<Pass> passes;
  for (const char* name : names) passes.push_back(*find_pass(name));
  Program before = outcome.compiled->program;
  return {before, run(passes, before)};
}

void expect_results(const Lowered& l, const std::vector<std::vector<double>>& inputs,
                    const std::vector<double>& expected) {
  for (const Program* program : {&l.before, &l.passed.program}) {
    const Graph& main = (*program)[program->main];
    std::vector<Tensor> tensors;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const TensorType& type = main[main.inputs[k]].type;
      tensors.push_back(tap::test::tensor(type.element, type.shape, inputs[k]));
    }
    EXPECT_EQ(tap::test::values(interpret(*program, program->main, tensors).outputs[0]), expected);
  }
}

TEST(ComposeMaps, ChainOfMapsBecomesOne) {
  Lowered l = lowered(R"(program p(x: f32[4], b: f32[4]) -> (y: f32[4]) {
    h[i] = x[i] + b[i]
    g[i] = max(h[i], 0)
    k[i] = g[i] * 2
    y[i] = k[i] - b[i]
  })");
  EXPECT_EQ(l.main().operations.size(), 1u);
  expect_results(l, {{1, -2, 3, -4}, {1, 1, 1, 1}}, {3, -1, 7, -1});
}

// A multilayer perceptron of 2·(matmul, bias) and a relu: the maps between two contractions are one.
TEST(ComposeMaps, FiveOperationsOfAPerceptronBecomeFour) {
  Lowered l = lowered(R"(use std
  program mlp(X: f32[8, 16], W1: f32[16, 32], b1: f32[32], W2: f32[32, 16], b2: f32[16]) -> (Y: f32[8, 16]) {
    H = relu(linear(X, W1, b1))
    Y = linear(H, W2, b2)
  })");
  Program inlined = run(std::vector<Pass>{*find_pass("inline_calls")}, l.before).program;
  EXPECT_EQ(inlined[inlined.main].operations.size(), 5u);
  EXPECT_EQ(l.main().operations.size(), 4u);
  EXPECT_NE(l.remark_on("H").find("16 times"), std::string::npos) << l.remark_on("H");
}

TEST(ComposeMaps, TransposeIsFoldedIntoAContraction) {
  Lowered l = lowered(R"(program p(a: f32[3, 5], b: f32[3, 4]) -> (y: f32[5, 4]) {
    t[i, j] = a[j, i]
    y[i, o] = sum[k] t[i, k] * b[k, o]
  })");
  EXPECT_EQ(l.main().operations.size(), 1u);
  EXPECT_EQ(l.cells("y"), "a[k, i] * b[k, o]");
}

// The value rounds to its type where it was written; so it does where it is composed.
TEST(ComposeMaps, RoundsToTheIntermediateType) {
  Lowered l = lowered(R"(program p(x: f16[3]) -> (y: f16[3]) {
    h[i] = x[i] + 2048
    y[i] = h[i] - 2048
  })");
  EXPECT_EQ(l.main().operations.size(), 1u);
  expect_results(l, {{1, 3, 0.5}}, {0, 4, 0});
}

// Trap 37: what lies outside is the fill, not what the map would compute there.
TEST(ComposeMaps, ReadsOutsideTheValueTakeTheFill) {
  Lowered l = lowered(R"(program p(x: i64[3]) -> (y: i64[3]) {
    h[i] = x[i] + 1
    y[i] = h[i - 1 else 0] + h[i + 1 else 0]
  })");
  EXPECT_EQ(l.main().operations.size(), 1u);
  expect_results(l, {{1, 1, 1}}, {2, 4, 2});
}

TEST(ComposeMaps, ReversedAndShiftedIndicesAreComposed) {
  Lowered l = lowered(R"(program p(x: i64[4]) -> (y: i64[2]) {
    h[3 - i] = x[i] * 10
    y[i] = h[i + 1] + i for i in 0..2
  })");
  EXPECT_EQ(l.cells("y"), "x[-i + 2] * 10 + i");
  expect_results(l, {{1, 2, 3, 4}}, {30, 21});
}

TEST(ComposeMaps, IndexValuesAreSubstituted) {
  Lowered l = lowered(R"(program p(x: i64[4]) -> (y: i64[3]) {
    h[i] = x[i] * i
    y[i] = h[i + 1] for i in 0..3
  })");
  EXPECT_EQ(l.main().operations.size(), 1u);
  expect_results(l, {{1, 2, 3, 4}}, {2, 6, 12});
}

TEST(ComposeMaps, ScanStaysAScan) {
  Lowered l = lowered(R"(program p(x: i64[6]) -> (y: i64[6]) {
    h[i] = x[i] * 3
    y[i] = sum[k in 0..i+1] h[k]
  })");
  EXPECT_EQ(l.main().operations.size(), 1u);
  expect_results(l, {{1, 1, 1, 1, 1, 1}}, {3, 6, 9, 12, 15, 18});
}

TEST(ComposeMaps, CountersOfAnIterateArePassedOn) {
  Lowered l = lowered(R"(program p(x: i64[2]) -> (y: i64[2]) {
    y = iterate t in 0..3 (s = x) { a[i] = s[i] + t;  b[i] = a[1 - i] * 2 for i in 0..2;  b }
  })");
  std::size_t most = 0;
  for (const Graph& graph : l.passed.program.graphs) most = std::max(most, graph.operations.size());
  EXPECT_EQ(most, 1u);
  expect_results(l, {{1, 2}}, {24, 16});
}

TEST(ComposeMaps, RemarksGiveTheReason) {
  Lowered l = lowered(R"(program p(x: f32[4], k: i64[4]) -> (y: f32[4], z: f32[4], q: i64[4]) {
    kept[i] = exp(x[i])
    y[i] = sum[j] kept[j] * x[i]
    z[i] = x[i] + 1
    w[i] = z[i] * 2
    divided[i] = 7 / k[i]
    q[i] = divided[i] + 1
    parts[i] = x[i] for i in 0..2
    parts[i + 2] = w[i] for i in 0..2
    unread[i] = parts[i]
  })");
  EXPECT_NE(l.remark_on("kept").find("4 times"), std::string::npos) << l.remark_on("kept");
  EXPECT_EQ(l.remark_on("z"), "it is a result, so it must be stored");
  EXPECT_NE(l.remark_on("divided").find("can fail"), std::string::npos) << l.remark_on("divided");
}

// Each round says what was composed of the program that it was given.
TEST(ComposeMaps, EachRoundClaimsItsOwnInput) {
  Lowered l = lowered(R"(program p(x: f32[4]) -> (y: f32[4]) {
    a[i] = x[i] + 1
    b[i] = a[i] * 2
    c[i] = b[i] + 3
    y[i] = c[i] * 4
  })",
                      {"compose_maps"});
  ASSERT_EQ(l.passed.certificate.steps.size(), 2u);
  const GraphClaim& first = l.passed.certificate.steps[0].graphs[0];
  ASSERT_EQ(first.operations.size(), 2u);
  Composed b{{{}, OperationId{1u}}, {{0, {{}, OperationId{0u}}}}},
      y{{{}, OperationId{3u}}, {{0, {{}, OperationId{2u}}}}};
  EXPECT_EQ(first.operations, (std::vector<Justification>{b, y}));
  EXPECT_EQ(l.passed.certificate.steps[1].graphs[0].operations.size(), 1u);
}

}  // namespace
}  // namespace tap::passes
