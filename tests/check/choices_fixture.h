// Rewrites as choices, for tests: a text's rules, what they offer in its program, what a plan picks of it, every stage
// certified and checked, and what it computes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/frontend/rewrites/rule_source.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/rewrites/offer_choices.h"
#include "passes/rewrites/pick_choices.h"
#include "passes/rewrites/rules.h"
#include "tests/check/cases.h"
#include "tests/frontend/compile_source.h"
#include "tests/ir/parse_plan.h"

namespace tap::check::choices_test {

using namespace tap::ir;

// A program on its way, every stage certified.
struct CertifiedRun {
  std::vector<Program> stages;
  Certificate certificate;
  std::vector<passes::Remark> remarks;
  std::vector<passes::PlanProblem> problems;
  std::optional<Program> rules = {};

  const Program& last() const { return stages.back(); }
};

inline CertifiedRun certified_run(Program program, std::span<const passes::Pass> list,
                                  const passes::PassContext& context) {
  CertifiedRun w{{program}, {}, {}, {}};
  passes::Passed passed = passes::run(list, std::move(program), context, [&](const passes::PassRun& run) {
    if (run.before != run.after) w.stages.push_back(run.after);
  });
  w.certificate = std::move(passed.certificate);
  w.remarks = std::move(passed.remarks);
  w.problems = std::move(passed.problems);
  w.rules = std::move(passed.rules);
  return w;
}
inline Verdict verdict_of(const CertifiedRun& w) {
  std::vector<HashedStage> stages;
  for (const Program& p : w.stages) stages.push_back({&p, hash_of(p)});
  return check(w.certificate, stages, w.rules ? &*w.rules : nullptr);
}
inline std::vector<std::string> assumed(const CertifiedRun& w) {
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
inline const std::string products = R"(
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

inline std::span<const passes::Pass> pass(const char* name) { return {passes::find_pass(name), 1}; }

// The source as it is when rewrites are looked for, and with its choices.
struct Offered {
  Program source, program;
  std::vector<passes::Remark> remarks;

  bool has_remark(const std::string& part) const {
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const auto& r) { return r.message.find(part) != std::string::npos; });
  }
};

inline Offered offer(const Program& program, const passes::RuleSet& rules) {
  Offered o;
  o.source = passes::run(passes::passes_before("offer_choices"), program).program;
  passes::PassContext context;
  context.rules = &rules;
  CertifiedRun w = certified_run(o.source, pass("offer_choices"), context);
  EXPECT_EQ(cases::refusals(verdict_of(w)), "");
  EXPECT_EQ(assumed(w), std::vector<std::string>{});  // nothing is taken yet
  o.program = w.last();
  o.remarks = w.remarks;
  return o;
}
inline Offered offer(const std::string& text) {
  Rules rules(text);
  return offer(rules.program, rules.set());
}

inline std::vector<std::vector<double>> evaluate(const Program& program) {
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

inline void expect_near(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    ASSERT_EQ(a[k].size(), b[k].size());
    for (std::size_t at = 0; at < a[k].size(); ++at) EXPECT_NEAR(a[k][at], b[k][at], 1e-4 * (1 + std::abs(a[k][at])));
  }
}

// The choices of a graph, by the name of what they compute.
inline std::map<std::string, const RegionBody*> choices(const Program& program, GraphId id) {
  std::map<std::string, const RegionBody*> found;
  const Graph& graph = program[id];
  for (const Operation& operation : graph.operations) {
    const RegionBody* region = program[operation.op].region();
    if (region && region->kind == RegionKind::choice) found[graph[operation.results[0]].name] = region;
  }
  return found;
}
inline std::map<std::string, const RegionBody*> choices(const Program& program) {
  return choices(program, program.main);
}

inline Plan plan(const std::string& lines) { return std::get<Plan>(parse_plan("plan 2\n" + lines)); }

inline CertifiedRun picked(const Program& program, const std::string& lines, bool require_proof = false) {
  passes::PassContext context;
  context.plan = plan(lines);
  context.require_proof = require_proof;
  CertifiedRun w = certified_run(program, pass("pick_choices"), context);
  EXPECT_EQ(cases::refusals(verdict_of(w)), "");
  for (const Graph& graph : w.last().graphs)
    for (const Operation& operation : graph.operations) {
      const RegionBody* region = w.last()[operation.op].region();
      EXPECT_FALSE(region && region->kind == RegionKind::choice);
    }
  return w;
}
inline Program chosen(const Program& program, const std::string& lines) {
  CertifiedRun w = picked(program, lines);
  for (const auto& p : w.problems) ADD_FAILURE() << p.message;
  return w.last();
}

}  // namespace tap::check::choices_test
