// Orders of contraction: as good as the best of all trees, and the same values.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <sstream>

#include "passes/rewrites/contraction_order.h"
#include "tests/passes/einsum.h"

namespace tap::passes {
namespace {

using namespace einsum;

TEST(Contraction, TheRowsOfTheEinsumTable) {
  std::ifstream table(std::string(TAP_SOURCE_DIR) + "/tests/conformance/einsum.csv");
  std::string line;
  std::size_t rows = 0, offered = 0;
  double before = 0, after = 0;
  while (std::getline(table, line)) {
    auto open = line.find('"'), close = line.rfind('"');
    if (open == line.npos) continue;
    std::string spec = line.substr(open + 1, close - open - 1);
    if (spec.find('.') != spec.npos) continue;
    Einsum e;
    auto arrow = spec.find("->");
    std::stringstream left(spec.substr(0, arrow) + ",");
    if (arrow != spec.npos) {
      e.result = spec.substr(arrow + 2);
    } else {  // the letters that occur once, in order
      for (char c = 'a'; c <= 'z'; ++c)
        if (std::count(spec.begin(), spec.end(), c) == 1) e.result += c;
    }
    for (std::string one; std::getline(left, one, ',');) e.operands.push_back(one);
    if (e.operands.size() < 3) continue;
    for (const std::string& letters : e.operands)
      for (char c : letters) e.size[c] = 2 + (c - 'a') % 2;
    ++rows;
    Program program;
    Operator op = operator_of(program, e);
    Reassociation r = reassociated(program, op);
    double points = 1;
    for (auto [c, n] : e.size) points *= static_cast<double>(n);
    double at_once = points * static_cast<double>(e.operands.size() - 1 + (e.size.size() > e.result.size()));
    EXPECT_DOUBLE_EQ(r.flops_before, at_once) << spec;
    EXPECT_LE(std::min(r.flops_after, r.flops_before), best_flops(e)) << spec;
    before += at_once;
    after += std::min(r.flops_after, r.flops_before);
    if (!r.program) continue;
    ++offered;
    SCOPED_TRACE(spec);
    expect_same_values(program, op, r);
  }
  EXPECT_EQ(rows, 28u);
  EXPECT_GE(offered, 15u);
  EXPECT_LT(after, before / 2);
  std::printf("%zu rows, %zu with a better order: %.0f operations instead of %.0f\n", rows, offered, after, before);
}

Einsum random_einsum(std::size_t operands, std::size_t letters) {
  Einsum e;
  for (std::size_t k = 0; k < operands; ++k) {
    Letters own;
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n)
      own.insert(static_cast<char>('a' + *rc::gen::inRange<std::size_t>(0, letters)));
    e.operands.emplace_back(own.begin(), own.end());
    for (char c : own) e.size[c] = 0;
  }
  for (auto& [c, n] : e.size) n = *rc::gen::inRange(1, 9);
  for (auto [c, n] : e.size)
    if (*rc::gen::inRange(0, 3) == 0) e.result += c;
  return e;
}
ContractionProblem problem_of(const Einsum& e) {
  ContractionProblem p;
  std::map<char, std::size_t> number;
  for (auto [c, n] : e.size) {
    number[c] = p.sizes.size();
    p.sizes.push_back(static_cast<double>(n));
  }
  for (const auto& letters : e.operands) {
    p.factors.emplace_back();
    for (char c : letters) p.factors.back().dims |= std::uint64_t{1} << number[c];
  }
  for (char c : e.result) p.kept |= std::uint64_t{1} << number[c];
  return p;
}

RC_GTEST_PROP(Contraction, FindsTheBestTree, ()) {
  Einsum e = random_einsum(*rc::gen::inRange<std::size_t>(2, 9), 7);
  ContractionProblem p = problem_of(e);
  ContractionTree tree = contraction_order(p);
  RC_ASSERT(tree.flops == best_flops(e));
  RC_ASSERT(std::abs(cost_of(p, tree) - tree.flops) < 1e-6 * (1 + tree.flops));
}

std::vector<Semiring> semirings() {
  return {{*builtin_monoid("sum", i64), CellOp::mul},
          {*builtin_monoid("sum", f32), CellOp::mul},
          {*builtin_monoid("sum", u8), CellOp::mul},
          {*builtin_monoid("min", f64), CellOp::add},
          {*builtin_monoid("max", f32), CellOp::add},
          {*builtin_monoid("min", i64), CellOp::max},
          {*builtin_monoid("max", i32), CellOp::min},
          {*builtin_monoid("any", boolean), CellOp::logical_and},
          {*builtin_monoid("all", boolean), CellOp::logical_or},
          {own_min(f64), CellOp::add},
          {own_min(i16), CellOp::max},
          {parity(i32), CellOp::bitand_}};
}

RC_GTEST_PROP(Contraction, RandomProductsKeepTheirValues, ()) {
  Einsum e = random_einsum(*rc::gen::inRange<std::size_t>(3, 6), 5);
  for (auto& [c, n] : e.size) n = n % 4;  // a reduction over nothing, too
  std::vector<Semiring> all = semirings();
  Program program;
  Operator op = operator_of(program, e, all[*rc::gen::inRange<std::size_t>(0, all.size())]);
  Reassociation r = reassociated(program, op);
  if (op.reduce()) RC_ASSERT(!r.rule.empty() || !r.remark.empty());
  if (!r.program) return;
  auto inputs = sample_inputs(op);
  RC_ASSERT(verify(*r.program).empty());
  RC_ASSERT(values_of(evaluate(program, op, inputs).outputs[0]) ==
            values_of(interpret(*r.program, r.program->main, inputs).outputs[0]));
}

TEST(Contraction, ManyFactorsUseGreedySearch) {
  // A chain of twenty matrices: the greedy tree against the best one, by the classical recurrence.
  constexpr std::size_t n = 20;
  ContractionProblem p;
  for (std::size_t k = 0; k <= n; ++k) p.sizes.push_back(static_cast<double>(2 + (k * 5) % 7));
  for (std::size_t k = 0; k < n; ++k) p.factors.push_back({std::uint64_t{3} << k, 0});
  p.kept = 1 | std::uint64_t{1} << n;
  double best[n][n] = {};
  for (std::size_t length = 1; length < n; ++length)
    for (std::size_t from = 0; from + length < n; ++from) {
      double& least = best[from][from + length] = std::numeric_limits<double>::infinity();
      for (std::size_t split = from; split < from + length; ++split)
        least = std::min(least, best[from][split] + best[split + 1][from + length] +
                                    2 * p.sizes[from] * p.sizes[split + 1] * p.sizes[from + length + 1]);
    }
  ContractionTree tree = contraction_order(p);
  EXPECT_EQ(tree.nodes.size(), 2 * n - 1);
  EXPECT_LE(tree.flops, 1.2 * best[0][n - 1]);
  EXPECT_DOUBLE_EQ(cost_of(p, tree), tree.flops);
}

}  // namespace
}  // namespace tap::passes
