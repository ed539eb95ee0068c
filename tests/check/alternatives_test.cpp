// What the checker says of the alternatives that a step offers: each is justified; changed in any way, with the hashes computed
// anew, it is refused, or computes the same after all: the interpreter says so, of every alternative that there is.
#include "tests/check/alternatives_fixture.h"

#include "ir/verify/verify.h"

namespace tap::check {
namespace {

using namespace alternatives_test;

constexpr int mutants_of_each = 260;

std::vector<Tensor> random_inputs(const Graph& graph, std::mt19937& random) {
  std::vector<Tensor> inputs;
  for (ValueId v : graph.inputs) {
    Tensor t(graph[v].type.element, graph[v].type.shape);
    for (std::int64_t k = 0; k < t.size(); ++k) {
      const auto number = static_cast<std::int64_t>(random() % 9) - 4;
      if (is_float(t.type())) t.store_f64(k, static_cast<double>(number));
      else t.store_i64(k, is_bool(t.type()) ? number & 1 : number);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

// Where an alternative differs from the first graph of its choice, on random numbers; empty if none does.
std::string difference(const Program& program, std::mt19937& random) {
  for (const Operator& op : program.operators) {
    const RegionBody* region = op.region();
    if (!region || region->kind != RegionKind::choice) continue;
    std::vector<Tensor> inputs = random_inputs(program[region->graph], random);
    std::vector<Tensor> expected = interpret(program, region->graph, inputs).outputs;
    for (const Alternative& a : region->alternatives) {
      std::vector<Tensor> found = interpret(program, a.graph, inputs).outputs;
      for (std::size_t r = 0; r < expected.size(); ++r) {
        std::vector<double> x = tap::test::values(expected[r]), y = tap::test::values(found[r]);
        for (std::size_t k = 0; k < x.size(); ++k)
          if (std::abs(x[k] - y[k]) > 1e-6 * (1 + std::abs(x[k])))
            return a.rule + ": " + std::to_string(y[k]) + " for " + std::to_string(x[k]);
      }
    }
  }
  return "";
}

TEST(Alternatives, AreJustifiedAndPreserveResults) {
  std::mt19937 random(5);
  for (const Offering& o : offerings()) {
    SCOPED_TRACE(o.name);
    CertifiedRun w = offered(o.text);
    ASSERT_FALSE(w.certificate.steps.empty());
    for (const Step& step : w.certificate.steps) EXPECT_FALSE(step.alternatives.empty());
    EXPECT_EQ(cases::refusals(verdict_of(w)), "");
    EXPECT_EQ(difference(w.last(), random), "");
  }
}

TEST(Alternatives, MutantsAreRefusedOrEquivalent) {
  std::mt19937 random(20261123);
  std::size_t mutants = 0, refused = 0, ill_formed = 0;
  for (const Offering& o : offerings()) {
    const CertifiedRun w = offered(o.text);
    for (int t = 0; t < mutants_of_each; ++t) {
      CertifiedRun mutant = w;
      Changes changes(mutant, random);
      int made = 0;
      for (std::size_t remaining = 1 + random() % 3; remaining > 0; --remaining) made += changes.any_change();
      if (made == 0 || (mutant.stages == w.stages && mutant.certificate == w.certificate)) continue;
      ++mutants;
      if (resealed(mutant).refused()) {
        ++refused;
        continue;
      }
      if (!verify(mutant.last()).empty()) {
        ++ill_formed;
        continue;
      }
      EXPECT_EQ(difference(mutant.last(), random), "") << o.name << " is accepted:\n" << print(mutant.last());
    }
  }
  std::printf("%zu mutants, %zu refused, %zu refused by the verifier alone\n", mutants, refused, ill_formed);
  EXPECT_GE(mutants, 1500u);
  EXPECT_GE(refused, mutants * 3 / 5);
}

// The smallest: mul becomes add in a step of a product.
TEST(Alternatives, SumInsteadOfProductIsRefused) {
  CertifiedRun w = offered(offerings()[0].text);
  Program& program = w.stages.back();
  for (const AlternativeClaim& a : w.certificate.steps.back().alternatives)
    for (Operation& operation : program.graphs[a.claim.after.index()].operations) {
      Operator op = program[operation.op];
      for (std::size_t k = 0; k < op.exprs.size(); ++k)
        if (op.exprs[CellId(k)].op == CellOp::mul) {
          CellNode node = op.exprs[CellId(k)];
          node.op = CellOp::add;
          cases::Mutant::change_cell(op, k, node);
        }
      operation.op = OperatorId(program.operators.size());
      program.operators.push_back(std::move(op));
    }
  EXPECT_EQ(cases::first_refusal(resealed(w)), "product");
}

TEST(Alternatives, RewriteWithoutItsRuleIsRefused) {
  CertifiedRun w = offered(offerings()[9].text);
  ASSERT_TRUE(w.rules.has_value());
  EXPECT_EQ(cases::refusals(verdict_of(w)), "");
  CertifiedRun without = w;
  without.rules.reset();
  EXPECT_EQ(cases::first_refusal(verdict_of(without)), "choice");
  // The rule, and not what is claimed of it, says what the replacement is.
  CertifiedRun other = w;
  for (Operator& op : other.rules->operators)
    if (op.map() && !op.reads.empty()) op.reads[0].projection.start.rows[0].offset += 1;
  EXPECT_TRUE(verdict_of(other).refused());
}

// Whatever is offered is justified: every pair of operations of which one distributes over the other on the numbers that the
// pass tries is a semiring that the checker knows, and on integers one that needs no assumption.
TEST(Alternatives, OfferedSemiringsAreKnown) {
  const std::pair<const char*, const char*> sums[] = {
      {"a.v + b.v", "0"},        {"a.v * b.v", "1"},        {"min(a.v, b.v)", "inf"},   {"min(a.v, b.v)", "255"},
      {"max(a.v, b.v)", "-inf"}, {"max(a.v, b.v)", "0"},    {"bitand(a.v, b.v)", "-1"}, {"bitand(a.v, b.v)", "255"},
      {"bitor(a.v, b.v)", "0"},  {"bitxor(a.v, b.v)", "0"}, {"a.v and b.v", "true"},    {"a.v or b.v", "false"},
      {"a.v == b.v", "true"},    {"a.v != b.v", "false"}};
  const char* factors[] = {"(A[i, j] * B[j, k]) * C[k, l]",
                           "(A[i, j] + B[j, k]) + C[k, l]",
                           "min(min(A[i, j], B[j, k]), C[k, l])",
                           "max(max(A[i, j], B[j, k]), C[k, l])",
                           "bitand(bitand(A[i, j], B[j, k]), C[k, l])",
                           "bitor(bitor(A[i, j], B[j, k]), C[k, l])",
                           "bitxor(bitxor(A[i, j], B[j, k]), C[k, l])",
                           "A[i, j] and B[j, k] and C[k, l]",
                           "A[i, j] or B[j, k] or C[k, l]"};
  std::size_t offered_count = 0;
  for (const char* type : {"i64", "u8", "f64", "bool"})
    for (const auto& [sum, identity] : sums)
      for (const char* product : factors) {
        const std::string t = type;
        const std::string text = "monoid own(v: " + t + ") { identity " + identity + "  combine (a, b) = " + sum +
                                 " }\nprogram p(A: " + t + "[2, 5], B: " + t + "[5, 3], C: " + t +
                                 "[3, 4]) -> (Y: " + t + "[2, 4]) { Y[i, l] = own[j, k] (" + product + ") }";
        auto compiled = tap::test::compile_text(text);
        if (!compiled.compiled) continue;
        CertifiedRun w = certified_run(compiled.compiled->program, pass("offer_choices"), {});
        if (w.certificate.steps.empty()) continue;
        ++offered_count;
        EXPECT_EQ(cases::refusals(verdict_of(w)), "") << text;
      }
  EXPECT_GE(offered_count, 12u);
}

}  // namespace
}  // namespace tap::check
