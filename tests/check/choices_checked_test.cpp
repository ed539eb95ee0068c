// Orders of products, what the checker refuses of a choice, and the rules of the standard library.
#include "tests/check/choices_fixture.h"

namespace tap::check {
namespace {

using namespace choices_test;

// ---- orders of products

const char* chain_text = R"(
    program p(A: i64[2, 9], B: i64[9, 3], C: i64[3, 8]) -> (Y: i64[2, 8]) {
        Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l]
    })";

TEST(Choices, ProductOfThreeIsReassociatedByDefault) {
  Offered o = offer(chain_text);
  auto found = choices(o.program);
  ASSERT_EQ(found.count("Y"), 1u);
  const std::string rule =
      "product in the order ((A B) C): 204 operations instead of 1296, "
      "by a * (b + c) = a * b + a * c";
  EXPECT_EQ(found["Y"]->alternatives[0].rule, rule);
  CertifiedRun by_itself = picked(o.program, "");
  EXPECT_EQ(assumed(by_itself),
            std::vector<std::string>{"the alternative `" + rule + "`"});  // of a source with choices
  EXPECT_EQ(by_itself.last()[by_itself.last().main].operations.size(), 2u);
  EXPECT_EQ(evaluate(by_itself.last()), evaluate(o.source));
}

TEST(Choices, ProductKeepsItsOrderOnRequest) {
  Offered o = offer(chain_text);
  auto operations = [&](const std::string& lines, bool require_proof) {
    Program out = picked(o.program, lines, require_proof).last();
    return out[out.main].operations.size();
  };
  EXPECT_EQ(operations("choose Y 0\n", false), 1u);
  EXPECT_EQ(operations("", true), 1u);
  EXPECT_EQ(operations("choose Y 1\nsplit Y dim k into 3\n", false), 2u);
}

// ---- the checker

TEST(Choices, WrongAlternativeIsRefused) {
  Offered o = offer(chain_text);
  CertifiedRun w = picked(o.program, "choose Y 1\n");
  ASSERT_EQ(w.certificate.steps.size(), 1u);
  cases::Case c{"picked", w.stages[0], w.stages[1], w.certificate.steps[0]};
  EXPECT_EQ(cases::refusals(cases::verdict_of(c)), "");
  // It says that it took what was written.
  cases::Case forged = c;
  for (Justification& j : forged.step.graphs[0].operations) std::get<Copied>(j).from.path[0].alternative = 0;
  for (auto& value : forged.step.graphs[0].values)
    if (!value->path.empty()) value->path[0].alternative = 0;
  EXPECT_NE(cases::refusals(cases::verdict_of(forged)), "");
  // It takes one half from each.
  cases::Case mixed = c;
  std::get<Copied>(mixed.step.graphs[0].operations[1]).from.path[0].alternative = 0;
  EXPECT_EQ(cases::first_refusal(cases::verdict_of(mixed)), "choice");
  // The alternative became another one meanwhile.
  cases::Case other = c;
  for (Operator& op : other.before.operators)
    if (op.name == "product") std::swap(op.dims[0].range, op.dims[1].range);
  EXPECT_NE(cases::refusals(cases::verdict_of(other)), "");
}

TEST(Choices, CopiedChoiceKeepsItsRules) {
  Offered o = offer(chain_text);
  cases::Case c{"kept", o.program, o.program, {"none", {}, {}, {}}};
  GraphClaim claim{o.program.main, o.program.main, {}, {}, {}};
  const Graph& main = o.program[o.program.main];
  for (std::size_t v = 0; v < main.values.size(); ++v) claim.values.push_back(ValueRef{{}, ValueId(v), {}});
  for (std::size_t k = 0; k < main.operations.size(); ++k) claim.operations.push_back(Copied{{{}, OperationId(k)}});
  c.step.graphs = {claim};
  EXPECT_EQ(cases::refusals(cases::verdict_of(c)), "");
  for (Operator& op : c.after.operators)
    if (auto* region = std::get_if<RegionBody>(&op.body)) region->alternatives[0].rule = "trust me";
  EXPECT_EQ(cases::first_refusal(cases::verdict_of(c)), "choice");
}

// ---- the standard library

// Each of its rules is offered where its own pattern stands, and gives what the pattern gives. What it offers may be what
// the passes make of the pattern already.
TEST(Choices, EveryRuleOfTheStandardLibraryIsOffered) {
  Rules rules("use std\n");
  std::size_t offered = 0;
  for (std::size_t k = 0; k < rules.set().texts.size(); ++k) {
    const std::string& text = rules.set().texts[k];
    SCOPED_TRACE(text);
    auto sample = rules.set().sample(k);
    ASSERT_TRUE(sample);
    Program program = sample->program;
    program.main = sample->pattern;
    Offered o = offer(program, rules.set());
    std::string lines;
    for (const auto& [name, region] : choices(o.program))
      for (std::size_t a = 0; a < region->alternatives.size(); ++a)
        if (region->alternatives[a].rule == text)
          lines = "choose " + plan_name(name) + " " + std::to_string(a + 1) + "\n";
    if (lines.empty()) {
      EXPECT_TRUE(o.has_remark("`" + text + "` offers only what the program already computes") ||
                  o.has_remark("`" + text + "` is not offered: `"))
          << print(o.source);
      continue;
    }
    ++offered;
    CertifiedRun w = picked(o.program, lines);
    EXPECT_EQ(w.problems.size(), 0u);
    expect_near(evaluate(w.last()), evaluate(o.source));
  }
  std::printf("%zu of %zu rules offered\n", offered, rules.set().texts.size());
  EXPECT_GE(offered, 20u);
}

// ---- many operations

TEST(Choices, LongProgramsAreMatchedInOnePass) {
  std::string body = "v0[i, j] = A[i, j] + 1\n";
  constexpr int n = 400;
  for (int k = 1; k <= n; ++k) body += "v" + std::to_string(k) + " = matmul(v" + std::to_string(k - 1) + ", B)\n";
  Offered o = offer(products +
                    "\nrewrite matmul(x, w) => sum_in(products(x, w))\n"
                    "program p(A: i64[2, 2], B: i64[2, 2]) -> (Y: i64[2, 2]) {\n" +
                    body + "Y = v" + std::to_string(n) + "\n}");
  std::size_t count = 0;
  for (const auto& [name, region] : choices(o.program)) count += o.program[region->graph].operations.size();
  EXPECT_GE(count, static_cast<std::size_t>(n));
}

}  // namespace
}  // namespace tap::check
