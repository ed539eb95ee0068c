// Every rule by which graphs become simpler, with its line of algebra: where it applies, the program that is left means the
// same and the checker agrees; where one thing is different, so that the line does not hold, nothing is done.
#include <algorithm>

#include "passes/pass_manager.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

struct GraphRule {
  std::string_view line;  // of algebra
  std::string_view pass;
  const char* program;  // what is written: parameters, results, body
  const char* applies;
  std::size_t left;  // operations, after the rule
  std::vector<const char*> stays;
};

const std::vector<GraphRule>& rules() {
  static const std::vector<GraphRule> all = {
      {"y = x → x in the place of y",
       "simplify_graph",
       "(x: f64[3, 3], k: i64[3]) -> (y: f64[3, 3])",
       "h[i, j] = x[i, j]  y[i, j] = exp(h[i, j])",
       1,
       {"h[i, j] = x[j, i]  y[i, j] = exp(h[i, j])", "h[i, j] = x[i, 2 - j] for j in 0..3  y[i, j] = exp(h[i, j])",
        "h[i, j] = x[i, 0] for j in 0..3  y[i, j] = exp(h[i, j])", "h[i, j] = -x[i, j]  y[i, j] = exp(h[i, j])",
        "h[i, j] = x[k[i], j else 0] for i in 0..3  y[i, j] = exp(h[i, j])",
        "h[i, j] = x[i - 1, j else 0] for i in 0..3  y[i, j] = exp(h[i, j])",
        "h[i, j] = f32(x[i, j])  y[i, j] = exp(f64(h[i, j]))",
        "h[i, j] = x[i, j]  barrier h both  y[i, j] = exp(h[i, j])"}},
      {"y = f(x), z = y → z = f(x)",
       "simplify_graph",
       "(x: f64[3]) -> (z: f64[3])",
       "y[i] = exp(x[i])  z[i] = y[i]",
       1,
       {"y[i] = exp(x[i])  z[i] = y[2 - i] for i in 0..3", "y[i] = exp(x[i])  z[i] = y[i] for i in 0..2  z[2] = y[2]"}},
      {"between the borders: z = x stays",
       "simplify_graph",
       "(x: f64[3]) -> (y: f64[3], z: f64[3])",
       "y[i] = exp(x[i])  h[i] = x[i]  z[i] = -h[i]",
       2,
       {"y[i] = x[i]  z[i] = exp(x[i])", "y[i] = exp(x[i])  z[i] = y[i]"}},
      {"⊕ of x over one point → e ⊕ x",
       "simplify_graph",
       "(x: f64[3, 1], w: f64[3, 2]) -> (y: f64[3])",
       "y[i] = sum[k] x[i, k]",
       1,
       {"y[i] = sum[k] w[i, k]", "y[i] = sum[k in 0..2] (if k < 1 then x[i, 0] else 0)",
        "y[i] = sum[k in 0..i+1] w[i, 0] * f64(k) for i in 0..3"}},
      {"⊕ of nothing → e",
       "simplify_graph",
       "(x: f64[3, 0], w: f64[3, 2]) -> (y: f64[3])",
       "y[i] = max[k] x[i, k]",
       1,
       {"y[i] = max[k] w[i, k]", "y[i] = max[k in 0..i] w[i, 0] * f64(k) for i in 0..3"}},
      {"f(x), f(x) → f(x)",
       "share_equal_operations",
       "(x: f64[3], v: f64[3]) -> (y: f64[3])",
       "a[i] = exp(x[i])  b[i] = exp(x[i])  y[i] = a[i] * b[i]",
       2,
       {"a[i] = exp(x[i])  b[i] = exp(v[i])  y[i] = a[i] * b[i]",
        "a[i] = exp(x[i])  b[i] = sin(x[i])  y[i] = a[i] * b[i]",
        "a[i] = exp(x[i])  b[i] = exp(x[2 - i]) for i in 0..3  y[i] = a[i] * b[i]",
        "a[i] = x[i] * 2  b[i] = x[i] * 3  y[i] = a[i] * b[i]"}},
      {"⊕ f(x), ⊕ f(x) → ⊕ f(x)",
       "share_equal_operations",
       "(x: f64[3, 3]) -> (y: f64[3])",
       "a[i] = sum[k] x[i, k]  b[i] = sum[k] x[i, k]  y[i] = a[i] * b[i]",
       2,
       {"a[i] = sum[k] x[i, k]  b[i] = max[k] x[i, k]  y[i] = a[i] * b[i]",
        "a[i] = sum[k] x[i, k]  b[i] = sum[k] x[k, i]  y[i] = a[i] * b[i]",
        "a[i] = sum[k] x[i, k]  b[i] = sum[k in 0..2] x[i, k]  y[i] = a[i] * b[i]"}},
      {"a value that no result needs → nothing",
       "remove_dead_code",
       "(x: f64[3]) -> (y: f64[3])",
       "a[i] = exp(x[i])  b[i] = -a[i]  y[i] = x[i] + 1",
       1,
       {"a[i] = exp(x[i])  b[i] = -a[i]  y[i] = b[i] + 1", "a[i] = exp(x[i])  y[i] = a[2] + x[i] for i in 0..3"}},
      {"a repetition whose state no result needs → nothing",
       "remove_dead_code",
       "(x: f64[3]) -> (y: f64[3])",
       "u = iterate 3 (v = x) { w[i] = v[i] * 2  w }  y[i] = x[i] + 1",
       1,
       {"u = iterate 3 (v = x) { w[i] = v[i] * 2  w }  y[i] = u[i] + 1"}}};
  return all;
}

Program written(const GraphRule& rule, const char* body) {
  return lowered("program p" + std::string(rule.program) + " { " + body + " }");
}

Passed passed(const GraphRule& rule, const Program& program) {
  return run(std::vector<Pass>{*find_pass(rule.pass)}, program);
}

TEST(GraphRules, ApplyIfTheirPatternMatches) {
  for (const GraphRule& rule : rules()) {
    SCOPED_TRACE(std::string(rule.line) + ": " + rule.applies);
    Program program = written(rule, rule.applies);
    Passed made = passed(rule, program);
    EXPECT_EQ(made.program[made.program.main].operations.size(), rule.left);
    ASSERT_EQ(made.certificate.steps.size(), 1u);
    expect_certified(program, made.program, made.certificate.steps[0]);
    expect_same_meaning(program, made.program);
  }
}

TEST(GraphRules, DoNotApplyToNearMisses) {
  for (const GraphRule& rule : rules())
    for (const char* other : rule.stays) {
      SCOPED_TRACE(std::string(rule.line) + ": " + other);
      Program program = written(rule, other);
      Passed made = passed(rule, program);
      EXPECT_EQ(made.program, program);
      EXPECT_TRUE(made.certificate.steps.empty());
    }
}

// Every pass of the pipeline that makes graphs simpler has a rule here.
TEST(GraphRules, EverySimplifyingPassHasARule) {
  for (std::string_view pass : {"simplify_graph", "share_equal_operations", "remove_dead_code"}) {
    ASSERT_NE(find_pass(pass), nullptr) << pass;
    EXPECT_TRUE(std::any_of(rules().begin(), rules().end(), [&](const GraphRule& r) { return r.pass == pass; }))
        << pass;
  }
}

}  // namespace
}  // namespace tap::passes::test
