// Cells become simpler, and what they no longer read is no operand.
#include "passes/simplify/simplify_cells.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "passes/pass_manager.h"
#include "tests/frontend/compile_source.h"

namespace tap::passes {
namespace {

using namespace tap::ir;

struct SimpleCell {
  Passed passed;
  const Operator& op() const { return passed.program.operators.at(0); }
  std::string cell() const { return print_cell(op(), op().map() ? op().map()->values[0] : op().reduce()->operands[0]); }
  std::vector<std::string> axioms() const {
    std::vector<std::string> all;
    for (const Step& step : passed.certificate.steps)
      for (const Justification& why : step.graphs[0].operations)
        if (const auto* simplified = std::get_if<Simplified>(&why))
          for (const AxiomUse& use : simplified->uses) all.push_back(use.axiom);
    return all;
  }
};

// Of the one equation `y[…] = …` over x, v: f32[6], k: i64[6].
SimpleCell simple_cell(const std::string& equation, const std::string& result = "f32[6]") {
  std::string text = "program p(x: f32[6], v: f32[6], k: i64[6]) -> (y: " + result + ") {\n  " + equation + "\n}\n";
  tap::test::Outcome outcome = tap::test::compile_text(text);
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  return {run(std::vector<Pass>{*find_pass("simplify_cells")}, outcome.compiled->program)};
}

TEST(SimplifyCells, NeutralElementsAreRemoved) {
  EXPECT_EQ(simple_cell("y[i] = x[i] * 1 - 0").cell(), "x[i]");
  EXPECT_EQ(simple_cell("y[i] = k[i] + 0", "i64[6]").cell(), "k[i]");
}

// -0 + 0 is 0: the sum of a float and zero is not that float.
TEST(SimplifyCells, BitChangingRulesAreNotApplied) {
  EXPECT_EQ(simple_cell("y[i] = x[i] + 0").cell(), "x[i] + 0");
  EXPECT_EQ(simple_cell("y[i] = x[i] * 0").cell(), "x[i] * 0");
  EXPECT_EQ(simple_cell("y[i] = x[i] - x[i]").cell(), "x[i] - x[i]");
  EXPECT_EQ(simple_cell("y[i] = k[i] - k[i]", "i64[6]").cell(), "0");
}

TEST(SimplifyCells, DecidedConditionsAreFolded) {
  EXPECT_EQ(simple_cell("y[i] = if i >= 0 and i < 6 then x[i] else v[i]").cell(), "x[i]");
  EXPECT_EQ(simple_cell("y[i] = if i < 3 then x[i] else v[i]").cell(), "if i < 3 then x[i] else v[i]");
  EXPECT_EQ(simple_cell("y[i] = if i > 5 then x[i] else x[i] + v[i]").cell(), "x[i] + v[i]");
  SimpleCell scan = simple_cell("y[i] = sum[j in 0..i+1] (if j <= i then x[j] else 0)");
  EXPECT_EQ(scan.cell(), "x[j]");
  // What is known says nothing of its opposite.
  SimpleCell diagonal = simple_cell("y[i] = sum[j in 0..i+1] (if j >= i then x[j] else 0)");
  EXPECT_EQ(diagonal.cell(), "if i <= j then x[j] else 0");
  SimpleCell equal = simple_cell("y[i] = sum[j in 0..i+1] (if j == i then x[j] else 0)");
  EXPECT_EQ(equal.cell(), "if j == i then x[j] else 0");
  SimpleCell weaker = simple_cell("y[i] = sum[j in 0..i+1] (if j <= i + 1 then x[j] else 0)");
  EXPECT_EQ(weaker.cell(), "x[j]");
}

// One form of a scatter is enough to know it by: native code runs over t once.
TEST(SimplifyCells, ScattersAreCanonicalized) {
  EXPECT_EQ(simple_cell("y[i] = sum[t] (if k[t] != i then 0 else x[t])").cell(), "if k[t] == i then x[t] else 0");
  EXPECT_EQ(simple_cell("y[i] = sum[t] (if not (k[t] == i) then 0 else x[t])").cell(), "if k[t] == i then x[t] else 0");
}

TEST(SimplifyCells, IndexArithmeticIsFolded) {
  EXPECT_EQ(simple_cell("y[i] = (i + 1) * 2 - i - 2", "i64[6]").cell(), "i");
  EXPECT_EQ(simple_cell("y[i] = (i + 6) % 6 + (i + 12) / 6", "i64[6]").cell(), "i + 2");
}

TEST(SimplifyCells, ExactConstantsAreFolded) {
  EXPECT_EQ(simple_cell("y[i] = x[i] * (2 + 3)").cell(), "x[i] * 5");
  EXPECT_EQ(simple_cell("y[i] = x[i] * (1.0 / 3.0)").cell(), "x[i] * (1 / 3)");  // the oracle's third is one of f64
  EXPECT_EQ(simple_cell("y[i] = (k[i] + 3) + 4", "i64[6]").cell(), "k[i] + 7");
}

TEST(SimplifyCells, ReachableFailuresAreKept) {
  EXPECT_EQ(simple_cell("y[i] = (7 / k[i]) * 0", "i64[6]").cell(), "7 / k[i] * 0");
  EXPECT_EQ(simple_cell("y[i] = (7 / 2) * 0 + k[i]", "i64[6]").cell(), "k[i]");
}

TEST(SimplifyCells, UnreadOperandsAreRemoved) {
  SimpleCell s = simple_cell("y[i] = if i < 6 then x[i] else v[i]");
  EXPECT_EQ(s.op().operands.size(), 1u);
  EXPECT_EQ(s.op().reads.size(), 1u);
  EXPECT_EQ(s.passed.program[s.passed.program.main].operations[0].operands.size(), 1u);
  EXPECT_EQ(s.axioms(), (std::vector<std::string>{"a = b [domain]", "select(true, a, b) = a"}));
}

// The fill of a read is a cell like others.
TEST(SimplifyCells, FillsAndCoordinatesAreSimplified) {
  SimpleCell s = simple_cell("y[i] = x[k[i] * 1 else v[i] * 1]");
  EXPECT_EQ(s.op().exprs.size(), 3u);
}

TEST(SimplifyCells, NoChangeIsNoStep) {
  EXPECT_TRUE(simple_cell("y[i] = x[i] + v[i]").passed.certificate.steps.empty());
}

}  // namespace
}  // namespace tap::passes
