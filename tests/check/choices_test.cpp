// Rewrites as choices: matched by what operations compute, offered, picked by a plan; checked, and evaluated on the oracle.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/frontend/rule_source.h"
#include "ir/text.h"
#include "passes/offer_choices.h"
#include "passes/pick_choices.h"
#include "passes/pipeline.h"
#include "passes/rules.h"
#include "tests/check/cases.h"
#include "tests/frontend/compile_source.h"

namespace tap::check {
namespace {

using namespace tap::ir;

// A program on its way, every stage certified.
struct Way {
  std::vector<Program> stages;
  Certificate certificate;
  std::vector<passes::Remark> remarks;
  std::vector<passes::PlanProblem> problems;

  const Program& last() const { return stages.back(); }
};

Way way(Program program, std::span<const passes::Pass> list, const passes::PassContext& context) {
  Way w{{program}, {}, {}, {}};
  passes::Passed passed = passes::run(list, std::move(program), context, [&](const passes::PassRun& run) {
    if (run.before != run.after) w.stages.push_back(run.after);
  });
  w.certificate = std::move(passed.certificate);
  w.remarks = std::move(passed.remarks);
  w.problems = std::move(passed.problems);
  return w;
}
Verdict verdict_of(const Way& w) {
  std::vector<Stage> stages;
  for (const Program& p : w.stages) stages.push_back({&p, hash_of(p)});
  return check(w.certificate, stages);
}
std::vector<std::string> assumed(const Way& w) {
  std::vector<std::string> all;
  for (const Finding& f : verdict_of(w).findings)
    if (f.standing == Standing::assumed) all.push_back(f.detail);
  return all;
}

// The rules of a text.
class Rules {
 public:
  explicit Rules(const std::string& text) : file_(sources_.add("test.tap", text)) {
    Diagnostics diagnostics;
    options_.standard_library = tap::test::standard_library();
    auto compiled = compile(sources_, file_, options_, diagnostics);
    EXPECT_TRUE(compiled) << render(diagnostics, sources_, MessageFormat::human, false);
    if (compiled) program = std::move(compiled->program);
    source_.emplace(sources_, file_, options_);
    set_.texts = source_->texts();
    set_.sample = [this](std::size_t rule) {
      auto [known, fresh] = samples_.try_emplace(rule);
      if (fresh) known->second = piece(source_->sample(rule));
      return known->second;
    };
    set_.instantiate = [this](std::size_t rule, const auto& types) { return piece(source_->at(rule, types)); };
  }

  const passes::RuleSet& set() const { return set_; }
  Program program;

 private:
  static std::optional<passes::RulePiece> piece(std::optional<RuleAtTypes> rule) {
    if (!rule) return std::nullopt;
    return passes::RulePiece{rule->program, rule->instance.pattern, rule->instance.replacement, rule->holds,
                             rule->guard};
  }
  SourceMap sources_;
  FileId file_;
  CompileOptions options_;
  std::optional<RuleSource> source_;
  passes::RuleSet set_;
  std::map<std::size_t, std::optional<passes::RulePiece>> samples_;
};

// What many of these tests need of the standard library, whose other monoids take a while to prove.
const std::string products = R"(
    op matmul(x: T[batch.., in], w: T[in, out]) -> (y: T[batch.., out]) where T: number {
        y[i.., o] = sum[k] x[i.., k] * w[k, o]
    }
    op matmul_transposed(x: T[batch.., in], w: T[out, in]) -> (y: T[batch.., out]) where T: number {
        y[i.., o] = sum[k] x[i.., k] * w[o, k]
    }
    op transpose(x: T[n, m]) -> (y: T[m, n]) where T: number { y[j, i] = x[i, j] }
    op products(x: T[batch.., in], w: T[in, out]) -> (z: T[batch.., in, out]) where T: number {
        z[i.., k, o] = x[i.., k] * w[k, o]
    }
    op sum_in(z: T[batch.., in, out]) -> (y: T[batch.., out]) where T: number { y[i.., o] = sum[k] z[i.., k, o] }
    op bias(x: T[batch.., n], b: T[n]) -> (y: T[batch.., n]) where T: number { y[i.., o] = b[o] + x[i.., o] }
    op linear(x: T[batch.., in], w: T[in, out], b: T[out]) -> (y: T[batch.., out]) where T: number {
        y[i.., o] = b[o] + sum[k] x[i.., k] * w[k, o]
    }
    op relu(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = max(x[i..], 0) }
)";

std::span<const passes::Pass> pass(const char* name) { return {passes::find_pass(name), 1}; }

// The source as it is when rewrites are looked for, and with its choices.
struct Offered {
  Program source, program;
  std::vector<passes::Remark> remarks;

  bool said(const std::string& part) const {
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const auto& r) { return r.message.find(part) != std::string::npos; });
  }
};

Offered offer(const Program& program, const passes::RuleSet& rules) {
  Offered o;
  o.source = passes::run(passes::passes_before("offer_choices"), program).program;
  passes::PassContext context;
  context.rules = &rules;
  Way w = way(o.source, pass("offer_choices"), context);
  EXPECT_EQ(cases::refusals(verdict_of(w)), "");
  EXPECT_EQ(assumed(w), std::vector<std::string>{});  // nothing is taken yet
  o.program = w.last();
  o.remarks = w.remarks;
  return o;
}
Offered offer(const std::string& text) {
  Rules rules(text);
  return offer(rules.program, rules.set());
}

std::vector<std::vector<double>> evaluate(const Program& program) {
  const Graph& main = program[program.main];
  std::vector<Tensor> inputs;
  int seed = 1;
  for (ValueId v : main.inputs) {
    Tensor t(main[v].type.element, main[v].type.shape);
    for (std::int64_t at = 0; at < t.size(); ++at) {
      seed = (seed * 37 + 11) % 101;
      if (is_float(t.type())) t.store_f64(at, seed % 7 - 3);
      else t.store_i64(at, seed % 2);
    }
    inputs.push_back(std::move(t));
  }
  std::vector<std::vector<double>> outputs;
  for (const Tensor& t : interpret(program, program.main, inputs).outputs) outputs.push_back(tap::test::values(t));
  return outputs;
}

void expect_near(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].size(), b[k].size());
    for (std::size_t at = 0; at < a[k].size(); ++at) EXPECT_NEAR(a[k][at], b[k][at], 1e-4 * (1 + std::abs(a[k][at])));
  }
}

// The choices of a graph, by the name of what they compute.
std::map<std::string, const RegionBody*> choices(const Program& program, GraphId id) {
  std::map<std::string, const RegionBody*> found;
  const Graph& graph = program[id];
  for (const Operation& operation : graph.operations) {
    const RegionBody* region = program[operation.op].region();
    if (region && region->kind == RegionKind::choice) found[graph[operation.results[0]].name] = region;
  }
  return found;
}
std::map<std::string, const RegionBody*> choices(const Program& program) { return choices(program, program.main); }

Plan plan(const std::string& lines) { return std::get<Plan>(parse_plan("plan 1\n" + lines)); }

Way picked(const Program& program, const std::string& lines, bool require_proof = false) {
  passes::PassContext context;
  context.plan = plan(lines);
  context.require_proof = require_proof;
  Way w = way(program, pass("pick_choices"), context);
  EXPECT_EQ(cases::refusals(verdict_of(w)), "");
  for (const Graph& graph : w.last().graphs)
    for (const Operation& operation : graph.operations) {
      const RegionBody* region = w.last()[operation.op].region();
      EXPECT_FALSE(region && region->kind == RegionKind::choice);
    }
  return w;
}
Program chosen(const Program& program, const std::string& lines) {
  Way w = picked(program, lines);
  for (const auto& p : w.problems) ADD_FAILURE() << p.message;
  return w.last();
}

TEST(Choices, AnyonesMatrixProductMatches) {
  Offered o = offer(products + R"(
      op matmul_rule(x: T[n, k], w: T[k, m]) -> (y: T[n, m]) where T: number { y[a, b] = sum[c] x[a, c] * w[c, b] }
      rewrite matmul_rule(x, w) => sum_in(products(x, w))
      program p(A: f32[3, 4], B: f32[4, 5]) -> (C: f32[3, 5]) { C[i, j] = sum[k] B[k, j] * A[i, k] })");
  auto found = choices(o.program);
  ASSERT_EQ(found.count("C"), 1u);
  ASSERT_EQ(found["C"]->alternatives.size(), 1u);
  EXPECT_EQ(found["C"]->alternatives[0].rule, "rewrite matmul_rule(x, w) => sum_in(products(x, w))");
  Way first = picked(o.program, ""), second = picked(o.program, "choose C 1\n");
  EXPECT_EQ(assumed(first), std::vector<std::string>{});
  EXPECT_EQ(assumed(second),
            std::vector<std::string>{"the rule `rewrite matmul_rule(x, w) => sum_in(products(x, w))`"});
  EXPECT_EQ(first.last()[first.last().main].operations.size(), 1u);
  EXPECT_EQ(second.last()[second.last().main].operations.size(), 2u);
  EXPECT_EQ(evaluate(first.last()), evaluate(o.source));
  EXPECT_EQ(evaluate(second.last()), evaluate(o.source));
}

TEST(Choices, TheTextsOwnExample) {
  // Linear → Matmul + Sum → SumDim(Prod): with calls inlined a linear layer is a matrix product and a bias already.
  Offered o = offer(products + R"(
      rewrite linear(x, w, b) => bias(matmul(x, w), b)
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(X: f64[3, 4], W: f64[4, 5], b: f64[5]) -> (Y: f64[3, 5]) { Y = relu(linear(X, W, b)) })");
  auto found = choices(o.program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(o.said("is written already"));
  Program second = chosen(o.program, "choose " + plan_name(found.begin()->first) + " 1\n");
  EXPECT_EQ(evaluate(second), evaluate(o.source));
  const Graph& main = second[second.main];
  auto shape = [&](std::size_t k) { return main[main.operations[k].results[0]].type.shape; };
  EXPECT_EQ(shape(0), (Shape{3, 4, 5}));  // the products
  EXPECT_EQ(shape(1), (Shape{3, 5}));     // their sum
}

TEST(Choices, AGuardIsAskedWithTheSizesAtHand) {
  const std::string text = products + R"(
      dim depth = 8
      rewrite matmul(x, w) => sum_in(products(x, w)) when matmul.in > 6
      program p(A: f32[3, depth], B: f32[depth, 5]) -> (C: f32[3, 5]) { C = matmul(A, B) })";
  EXPECT_EQ(choices(offer(text).program).size(), 1u);
  std::string small = text;
  small.replace(small.find("= 8"), 3, "= 4");
  Offered o = offer(small);
  EXPECT_TRUE(choices(o.program).empty());
  EXPECT_TRUE(o.said("`matmul.in > 6` is false: `matmul.in` is 4"));
}

TEST(Choices, SeveralOperationsMatchAndAnInnerUseDeclines) {
  const std::string head = "use std\nprogram p(X: f64[3, 4]) -> (Y: f64[3, 4]";
  const std::string softmax = R"( {
      m[i] = max[k] X[i, k]
      s[i] = sum[k] exp(X[i, k] - m[i])
      Y[i, j] = exp(X[i, j] - m[i]) / s[i]
      )";
  Offered o = offer(head + ")" + softmax + "}");
  auto found = choices(o.program);
  ASSERT_EQ(found.count("Y"), 1u);
  EXPECT_EQ(found["Y"]->alternatives[0].rule, "rewrite softmax(x) => exp(log_softmax(x))");
  EXPECT_EQ(o.program[found["Y"]->graph].operations.size(), 3u);
  expect_near(evaluate(chosen(o.program, "choose Y 1\n")), evaluate(o.source));

  Offered used = offer(head + ", S: f64[3])" + softmax + "S[i] = s[i] + 1\n}");
  EXPECT_EQ(choices(used.program).count("Y"), 0u);
  EXPECT_TRUE(used.said("`s`, which it would no longer compute, is used elsewhere, too"));
}

TEST(Choices, WhatASplitOrABarrierSpeaksOfStays) {
  const std::string head = R"(
      mesh pod = [data: 2]
      op norm(x: T[n]) -> (y: T[n]) where T: number { s[] = sum[i] x[i]  y[i] = x[i] * s[] }
      op norm2(x: T[n]) -> (y: T[n]) where T: number { s[] = sum[i] x[i]  y[i] = x[i] * (2 * s[]) / 2 }
      rewrite norm(x) => norm2(x)
      program p(X: i64[4]) -> (Y: i64[4]) { s[] = sum[i] X[i]  Y[i] = X[i] * s[]
      )";
  EXPECT_EQ(choices(offer(head + "}").program).count("Y"), 1u);
  Offered split = offer(head + "split Y on axis 0 into 2\n}");
  EXPECT_EQ(choices(split.program).count("Y"), 0u);
  EXPECT_TRUE(split.said("a split is asked for of what it replaces"));
  Offered barrier = offer(head + "barrier s both\n}");
  EXPECT_EQ(choices(barrier.program).count("Y"), 0u);
  EXPECT_TRUE(barrier.said("something is said of `s`, which it would no longer compute"));
}

TEST(Choices, AValueOfSeveralWritersStays) {
  Offered o = offer(R"(
      op twice(x: T[n], k: T[m]) -> (y: T[n]) where T: number { y[i] = x[i] * 2 }
      op shifted(x: T[n]) -> (y: T[n]) where T: number { y[i] = x[i] + 3 }
      op shifted_in_steps(x: T[n]) -> (y: T[n]) where T: number { h[i] = x[i] + 1  y[i] = h[i] + 2 }
      rewrite shifted(x) => shifted_in_steps(x)
      program p(X: i64[4]) -> (Y: i64[8], Z: i64[4]) {
          Y[i] = X[i] + 3 for i in 0..4
          Y[4 + i] = X[i] * 5
          Z[i] = X[i] + 3
      })");
  EXPECT_EQ(choices(o.program).count("Z"), 1u);
  EXPECT_EQ(choices(o.program).count("Y"), 0u);
}

TEST(Choices, ChoicesStandInChoices) {
  Offered o = offer(products + R"(
      rewrite matmul_transposed(x, w) => matmul(x, transpose(w))
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(A: f64[3, 4], B: f64[5, 4]) -> (C: f64[3, 5]) { C[i, j] = sum[k] A[i, k] * B[j, k] })");
  auto outer = choices(o.program);
  ASSERT_EQ(outer.count("C"), 1u);
  auto inner = choices(o.program, outer["C"]->alternatives[0].graph);
  ASSERT_EQ(inner.size(), 1u);
  Program once = chosen(o.program, "choose C 1\n");
  Way twice = picked(o.program, "choose C 1\nchoose C 1\n");
  EXPECT_EQ(twice.problems.size(), 0u);
  EXPECT_EQ(assumed(twice).size(), 2u);
  EXPECT_EQ(once[once.main].operations.size(), 2u);
  EXPECT_EQ(twice.last()[twice.last().main].operations.size(), 3u);
  EXPECT_EQ(evaluate(once), evaluate(o.source));
  EXPECT_EQ(evaluate(twice.last()), evaluate(o.source));
}

TEST(Choices, RulesThatUndoEachOtherEnd) {
  Offered o = offer(R"(
      op twice(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = 2 * x[i..] }
      op plus_itself(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = x[i..] + x[i..] }
      rewrite twice(x) => plus_itself(x)
      rewrite plus_itself(x) => twice(x)
      program p(X: i32[3]) -> (Y: i32[3], Z: i32[3]) { Y = twice(X)  Z = plus_itself(X) })");
  auto found = choices(o.program);
  ASSERT_EQ(found.size(), 2u);
  for (const auto& [name, region] : found) {
    EXPECT_EQ(region->alternatives.size(), 1u);
    EXPECT_TRUE(choices(o.program, region->alternatives[0].graph).empty());
  }
  EXPECT_EQ(evaluate(chosen(o.program, "choose Y 1\nchoose Z 1\n")), evaluate(o.source));
}

TEST(Choices, WhatIsReplacedByAnOperandIsACopy) {
  Offered o = offer(R"(
      op flip(x: T[n]) -> (y: T[n]) where T: number { y[i] = x[n - 1 - i] }
      rewrite flip(flip(x)) => x
      program p(X: i64[5]) -> (Y: i64[5]) { Y = flip(flip(X)) })");
  auto found = choices(o.program);
  ASSERT_EQ(found.count("Y"), 1u);
  Program out = chosen(o.program, "choose Y 1\n");
  EXPECT_EQ(out[out.main].operations.size(), 1u);
  EXPECT_EQ(evaluate(out), evaluate(o.source));
}

TEST(Choices, RepetitionsHaveChoicesInside) {
  Offered o = offer(products + R"(
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(X: i32[3, 3], W: i32[3, 3]) -> (Y: i32[3, 3]) { Y = iterate 3 (v = X) { u = matmul(v, W)  u } })");
  Program out = chosen(o.program, "choose Y/u 1\n");
  EXPECT_EQ(evaluate(out), evaluate(o.source));
  EXPECT_NE(print(out), print(chosen(o.program, "")));
}

// m1 → z2 → s2 and m2 → z1 → s1: as one operation each, (m1, s1) and (m2, s2) would wait for each other.
TEST(Choices, PlacesThatWaitForEachOtherAreLeft) {
  Offered o = offer(R"(
      op both(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = m[i] * z[i] }
      op other(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = 7 + (x[i] + 1) - 1  s[i] = (x[i] + 7) * z[i] }
      rewrite both(x, z) => other(x, z)
      program p(X: i64[4], Z: i64[4]) -> (A: i64[4], B: i64[4]) {
          m[i] = X[i] + 7
          n[i] = Z[i] + 7
          u[i] = n[i] * 3
          v[i] = m[i] * 5
          A[i] = m[i] * u[i]
          B[i] = n[i] * v[i]
      })");
  EXPECT_TRUE(choices(o.program).empty());
  EXPECT_TRUE(o.said("others that are would wait for it"));
}

TEST(Choices, WhatStandsBetweenIsMovedBehind) {
  Offered o = offer(R"(
      op both(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = m[i] * z[i] }
      op other(x: T[n], z: T[n]) -> (m: T[n], s: T[n]) where T: number { m[i] = x[i] + 7  s[i] = (x[i] + 7) * z[i] }
      rewrite both(x, z) => other(x, z)
      program p(X: i64[4], Z: i64[4]) -> (A: i64[4], B: i64[4]) {
          m[i] = X[i] + 7
          B[i] = m[i] * 5
          A[i] = m[i] * Z[i]
      })");
  auto found = choices(o.program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->second->alternatives.size(), 1u);
  EXPECT_EQ(evaluate(chosen(o.program, "choose " + plan_name(found.begin()->first) + " 1\n")), evaluate(o.source));
}

TEST(Choices, APlanThatPicksNothingIsTold) {
  Offered o = offer(products + R"(
      rewrite matmul(x, w) => sum_in(products(x, w))
      program p(A: f32[3, 4], B: f32[4, 5]) -> (D: f32[3, 5]) { C = matmul(A, B)  D = relu(C) })");
  Way w = picked(o.program, "choose C 2\nchoose E 1\nchoose D 1\nchoose C 1\n");
  ASSERT_EQ(w.problems.size(), 4u);
  EXPECT_EQ(w.problems[0].message, "`C` has the alternatives 0 to 1; 2 is none of them");
  EXPECT_EQ(w.problems[1].message, "no operation is called `E`");
  EXPECT_EQ(w.problems[2].message, "there is nothing to choose at `D`");
  EXPECT_EQ(w.problems[2].help, "the choices are `C`");
  EXPECT_EQ(w.problems[3].message, "there is nothing to choose at `C`");
  EXPECT_EQ(evaluate(w.last()), evaluate(o.source));
}

// ---- orders of products

const char* chain = R"(
    program p(A: i64[2, 9], B: i64[9, 3], C: i64[3, 8]) -> (Y: i64[2, 8]) {
        Y[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l]
    })";

TEST(Choices, AProductOfThreeIsReassociatedByItself) {
  Offered o = offer(chain);
  auto found = choices(o.program);
  ASSERT_EQ(found.count("Y"), 1u);
  const std::string rule =
      "product in the order ((A B) C): 204 operations instead of 1296, "
      "by a * (b + c) = a * b + a * c";
  EXPECT_EQ(found["Y"]->alternatives[0].rule, rule);
  Way by_itself = picked(o.program, "");
  EXPECT_EQ(assumed(by_itself), std::vector<std::string>{"the rule `" + rule + "`"});
  EXPECT_EQ(by_itself.last()[by_itself.last().main].operations.size(), 2u);
  EXPECT_EQ(evaluate(by_itself.last()), evaluate(o.source));
}

TEST(Choices, AProductStaysAsItIsWrittenWhereThatIsAskedFor) {
  Offered o = offer(chain);
  auto operations = [&](const std::string& lines, bool require_proof) {
    Program out = picked(o.program, lines, require_proof).last();
    return out[out.main].operations.size();
  };
  EXPECT_EQ(operations("choose Y 0\n", false), 1u);
  EXPECT_EQ(operations("", true), 1u);
  EXPECT_EQ(operations("choose Y 1\nsplit Y dim k into 3\n", false), 2u);
}

// ---- the checker

TEST(Choices, AnotherGraphThanTheOneThatWasPickedIsRefused) {
  Offered o = offer(chain);
  Way w = picked(o.program, "choose Y 1\n");
  ASSERT_EQ(w.certificate.steps.size(), 1u);
  cases::Case c{"picked", w.stages[0], w.stages[1], w.certificate.steps[0]};
  EXPECT_EQ(cases::refusals(cases::verdict_of(c)), "");
  // It says that it took what was written.
  cases::Case lied = c;
  for (Justification& j : lied.step.graphs[0].operations) std::get<Copied>(j).from.path[0].alternative = 0;
  for (auto& value : lied.step.graphs[0].values)
    if (!value->path.empty()) value->path[0].alternative = 0;
  EXPECT_NE(cases::refusals(cases::verdict_of(lied)), "");
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

TEST(Choices, AChoiceThatIsCarriedAlongKeepsItsRules) {
  Offered o = offer(chain);
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
      EXPECT_TRUE(o.said("`" + text + "` offers what is written already") || o.said("`" + text + "` is not offered: `"))
          << print(o.source);
      continue;
    }
    ++offered;
    Way w = picked(o.program, lines);
    EXPECT_EQ(w.problems.size(), 0u);
    expect_near(evaluate(w.last()), evaluate(o.source));
  }
  std::printf("%zu of %zu rules offered\n", offered, rules.set().texts.size());
  EXPECT_GE(offered, 20u);
}

// ---- many operations

TEST(Choices, LongProgramsAreMatchedInOneGo) {
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
