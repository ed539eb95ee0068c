// Operations that are no work.
#include "passes/simplify/simplify_graph.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/text/certificate_text.h"
#include "passes/pass_manager.h"
#include "tests/frontend/compile_source.h"

namespace tap::passes {
namespace {

using namespace tap::ir;

struct SimpleGraph {
  Program before;
  Passed passed;
  const Graph& main() const { return passed.program[passed.program.main]; }
  const GraphClaim& claim() const { return passed.certificate.steps.at(0).graphs[passed.program.main.index()]; }
};

SimpleGraph simple_graph(const std::string& text) {
  tap::test::Outcome outcome = tap::test::compile_text(text);
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  Program before = outcome.compiled->program;
  return {before, run(std::vector<Pass>{*find_pass("simplify_graph")}, before)};
}

void expect_same_results(const SimpleGraph& s, const std::vector<double>& input) {
  const Graph& main = s.main();
  const TensorType& type = main[main.inputs[0]].type;
  std::vector<Tensor> inputs{tap::test::tensor(type.element, type.shape, input)};
  auto before = interpret(s.before, s.before.main, inputs).outputs,
       after = interpret(s.passed.program, s.passed.program.main, inputs).outputs;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) EXPECT_EQ(tap::test::values(before[k]), tap::test::values(after[k]));
}

TEST(SimplifyGraph, CopiesAreReplacedByTheirOperand) {
  SimpleGraph s = simple_graph(R"(program p(x: f32[3]) -> (y: f32[3]) {
    a[i] = x[i]
    b[i] = a[i]
    c[i] = exp(b[i])
    y[i] = c[i]
  })");
  ASSERT_EQ(s.main().operations.size(), 1u);
  EXPECT_EQ(s.main()[s.main().outputs[0]].name, "y");
  EXPECT_EQ(s.claim().copies.size(), 3u);
  expect_same_results(s, {1, 2, 3});
}

// An input that is a result, and a value that is two results, are copied all the same.
TEST(SimplifyGraph, CopyFromInputToOutputStays) {
  SimpleGraph s = simple_graph(R"(program p(x: f32[3]) -> (y: f32[3], z: f32[3], w: f32[3]) {
    y[i] = x[i]
    z[i] = -x[i]
    w[i] = z[i]
  })");
  EXPECT_EQ(s.main().operations.size(), 3u);
  EXPECT_TRUE(s.passed.certificate.steps.empty());
}

TEST(SimplifyGraph, ReversedOrPartialWritesAreNotCopies) {
  SimpleGraph s = simple_graph(R"(program p(x: f32[3]) -> (y: f32[3]) {
    a[i] = x[2 - i] for i in 0..3
    b[i] = a[i] for i in 0..1
    b[i] = a[i] for i in 1..3
    y[i] = b[i] + 1
  })");
  EXPECT_EQ(s.main().operations.size(), 4u);
}

TEST(SimplifyGraph, SinglePointReductionIsAMap) {
  SimpleGraph s = simple_graph(R"(program p(x: f32[3, 1]) -> (y: f32[3]) { y[i] = sum[k] x[i, k] * f32(i + k) })");
  const Operator& op = s.passed.program.operators.at(0);
  ASSERT_NE(op.map(), nullptr);
  EXPECT_EQ(op.dims.size(), 1u);
  EXPECT_EQ(print_cell(op, op.map()->values[0]), "0 + x[i, 0] * f32(i + 0)");
  EXPECT_EQ(s.claim().operations, (std::vector<Justification>{PointOf{{{}, OperationId{0u}}}}));
  expect_same_results(s, {1, 2, 3});
}

TEST(SimplifyGraph, EmptyReductionIsTheIdentity) {
  SimpleGraph s = simple_graph(R"(program p(x: f32[3, 0]) -> (y: f32[3]) { y[i] = max[k] x[i, k] })");
  const Operator& op = s.passed.program.operators.at(0);
  ASSERT_NE(op.map(), nullptr);
  EXPECT_TRUE(op.operands.empty());
  EXPECT_EQ(print_cell(op, op.map()->values[0]), "-inf");
}

TEST(SimplifyGraph, PossiblyEmptyBoundStays) {
  SimpleGraph s = simple_graph(
      R"(program p(x: f32[3, 1]) -> (y: f32[3]) { y[i] = sum[k in 0..1] (if k <= i then x[i, k] else 0) })");
  EXPECT_EQ(s.main().operations.size(), 1u);
  expect_same_results(s, {1, 2, 3});
}

TEST(SimplifyGraph, CertificatesRoundTrip) {
  SimpleGraph s =
      simple_graph(R"(program p(x: f32[3, 1]) -> (y: f32[3]) { h[i, j] = x[i, j]  y[i] = sum[k] h[i, k] })");
  auto again = parse_certificate(print(s.passed.certificate));
  ASSERT_TRUE(std::holds_alternative<Certificate>(again));
  EXPECT_EQ(std::get<Certificate>(again), s.passed.certificate);
}

}  // namespace
}  // namespace tap::passes
