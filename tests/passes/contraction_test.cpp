// Orders of contraction: as good as the best of all trees, and the same values.
#include "passes/contraction.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "ir/verify.h"
#include "passes/contraction_order.h"
#include "tests/ir/build.h"

namespace tap::passes {
namespace {

using namespace tap::ir;
using namespace tap::ir::test;

// ---- every tree, by the rules of einsum on letters alone

using Letters = std::set<char>;
struct Einsum {
  std::vector<std::string> operands;
  std::string result;
  std::map<char, std::int64_t> size;

  double points(const Letters& letters) const {
    double n = 1;
    for (char c : letters) n *= static_cast<double>(size.at(c));
    return n;
  }
};

struct Piece {
  Letters letters;
  double flops;
};

// The best of all orders: every way to compute the product of a set of operands, reduced as far as the others let it. With
// `known` sets are looked at once, without it every tree of them is.
class EveryWay {
 public:
  EveryWay(const Einsum& e, bool remember) : e_(e), remember_(remember) {}

  double best() { return ways((1u << e_.operands.size()) - 1)[0].flops; }

 private:
  std::vector<Piece> ways(std::uint32_t operands) {
    if (auto known = known_.find(operands); known != known_.end()) return known->second;
    std::vector<Piece> found = (operands & (operands - 1)) == 0 ? leaf(operands) : joined(operands);
    if (remember_) known_[operands] = found;
    return found;
  }

  std::vector<Piece> leaf(std::uint32_t operand) {
    std::size_t k = 0;
    while ((operand >> k & 1) == 0) ++k;
    Letters own(e_.operands[k].begin(), e_.operands[k].end());
    std::vector<Piece> ways{{own, 0}};
    if (needed(own, operand) != own) ways.push_back({needed(own, operand), e_.points(own)});
    return ways;
  }

  std::vector<Piece> joined(std::uint32_t operands) {
    const bool whole = operands == (1u << e_.operands.size()) - 1;
    Piece best{{}, std::numeric_limits<double>::infinity()};
    for (std::uint32_t left = (operands - 1) & operands; left != 0; left = (left - 1) & operands) {
      if (left < (operands & ~left)) continue;  // each pair once
      for (const Piece& a : ways(left))
        for (const Piece& b : ways(operands & ~left)) {
          Letters both = a.letters;
          both.insert(b.letters.begin(), b.letters.end());
          Letters kept = whole ? Letters(e_.result.begin(), e_.result.end()) : needed(both, operands);
          double flops = a.flops + b.flops + e_.points(both) * (kept == both ? 1 : 2);
          if (flops < best.flops) best = {kept, flops};
        }
    }
    return {best};
  }

  Letters needed(const Letters& letters, std::uint32_t inside) const {
    Letters outside(e_.result.begin(), e_.result.end()), kept;
    for (std::size_t k = 0; k < e_.operands.size(); ++k)
      if ((inside >> k & 1) == 0) outside.insert(e_.operands[k].begin(), e_.operands[k].end());
    for (char c : letters)
      if (outside.count(c)) kept.insert(c);
    return kept;
  }

  const Einsum& e_;
  bool remember_;
  std::map<std::uint32_t, std::vector<Piece>> known_;
};
double best_flops(const Einsum& e) { return EveryWay(e, e.operands.size() > 6).best(); }

// ⊕ and ⊗ of one type.
struct Semiring {
  Monoid plus;
  CellOp times;
  ElementType type() const { return plus.components[0].type; }
};

Operator operator_of(Program& program, const Einsum& e, const Semiring& semiring) {
  const ElementType type = semiring.type();
  Build b("y");
  std::map<char, std::uint32_t> dim;
  for (char c : e.result) dim[c] = b.parallel(std::string(1, c), e.size.at(c));
  for (auto [c, n] : e.size)
    if (!dim.count(c)) dim[c] = b.reduction(std::string(1, c), n);
  CellId product;
  for (const std::string& letters : e.operands) {
    Shape shape;
    std::vector<Linear> rows;
    for (char c : letters) shape.push_back(e.size.at(c)), rows.push_back(b[dim[c]]);
    CellId read = b.read(b.operand(type, shape), rows);
    product = product.valid() ? b.apply(semiring.times, {product, read}) : read;
  }
  Shape shape;
  std::vector<Linear> rows;
  for (char c : e.result) shape.push_back(e.size.at(c)), rows.push_back(b[dim[c]]);
  b.result(type, shape, rows);
  bool reduces = e.size.size() > e.result.size();
  return reduces ? b.reduce(add_monoid(program, semiring.plus), {product}) : b.map({product});
}
Operator operator_of(Program& program, const Einsum& e) {
  return operator_of(program, e, {*builtin_monoid("sum", i64), CellOp::mul});
}

// A user's monoid of one component: combine(a, b) by cells, with laws that were tried.
Monoid own_monoid(ElementType type, Scalar identity, const std::function<CellId(CellExprs&, CellId, CellId)>& combine) {
  Monoid m;
  m.name = "own";
  m.components = {{"v", type}};
  CellId a = m.exprs.argument(0, type), b = m.exprs.argument(1, type);
  m.identity = {m.exprs.constant(identity)};
  m.combine = {combine(m.exprs, a, b)};
  m.laws = {Law::assumed, Law::assumed, Law::assumed, Law::unknown};
  return m;
}
// if a < b then a else b
Monoid own_min(ElementType type) {
  return own_monoid(type, Scalar::greatest(type), [&](CellExprs& exprs, CellId a, CellId b) {
    return exprs.apply(CellOp::select, type, {exprs.apply(CellOp::less, ElementType::boolean, {a, b}), a, b});
  });
}
// The exclusive or of bits, over which `bitand` distributes.
Monoid parity(ElementType type) {
  return own_monoid(type, Scalar::zero(type), [&](CellExprs& exprs, CellId a, CellId b) {
    return exprs.apply(CellOp::bitxor_, type, {a, b});
  });
}

std::vector<Tensor> some_inputs(const Operator& op) {
  std::vector<Tensor> inputs;
  std::int64_t seed = 1;
  for (const TensorType& type : op.operands) {
    Tensor t(type.element, type.shape);
    for (std::int64_t at = 0; at < t.size(); ++at) {
      seed = (seed * 37 + 11) % 101;
      if (is_float(t.type())) t.store_f64(at, static_cast<double>(seed % 7 - 3));
      else t.store_i64(at, is_bool(t.type()) ? seed & 1 : seed % 7 - 3);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

void expect_same_values(const Program& program, const Operator& op, const Reassociation& other) {
  ASSERT_TRUE(other.program) << other.remark;
  EXPECT_EQ(verify(*other.program), std::vector<std::string>{});
  auto inputs = some_inputs(op);
  auto before = evaluate(program, op, inputs).outputs;
  auto after = interpret(*other.program, other.program->main, inputs).outputs;
  ASSERT_EQ(before.size(), after.size());
  EXPECT_EQ(values_of(before[0]), values_of(after[0]));
}

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

RC_GTEST_PROP(Contraction, NoTreeIsBetter, ()) {
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
  auto inputs = some_inputs(op);
  RC_ASSERT(verify(*r.program).empty());
  RC_ASSERT(values_of(evaluate(program, op, inputs).outputs[0]) ==
            values_of(interpret(*r.program, r.program->main, inputs).outputs[0]));
}

TEST(Contraction, ManyFactorsAreTakenGreedily) {
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
      for (std::size_t cut = from; cut < from + length; ++cut)
        least = std::min(least, best[from][cut] + best[cut + 1][from + length] +
                                    2 * p.sizes[from] * p.sizes[cut + 1] * p.sizes[from + length + 1]);
    }
  ContractionTree tree = contraction_order(p);
  EXPECT_EQ(tree.nodes.size(), 2 * n - 1);
  EXPECT_LE(tree.flops, 1.2 * best[0][n - 1]);
  EXPECT_DOUBLE_EQ(cost_of(p, tree), tree.flops);
}

// y[i, l] = ⊕[j, k] a[i, j] ⊗ b[j, k] ⊗ c[k, l]
Einsum chain() { return {{"ij", "jk", "kl"}, "il", {{'i', 2}, {'j', 4}, {'k', 2}, {'l', 3}}}; }

TEST(Contraction, TheLawDecidesAndIsNamed) {
  auto built_in = [](const char* name, ElementType type) { return *builtin_monoid(name, type); };
  struct {
    Monoid plus;
    CellOp times;
    const char* law;  // none: it does not distribute
  } cases[] = {{built_in("sum", f32), CellOp::mul, "a * (b + c) = a * b + a * c"},
               {built_in("min", f64), CellOp::add, "a + min(b, c) = min(a + b, a + c)"},
               {built_in("max", f32), CellOp::add, "a + max(b, c) = max(a + b, a + c)"},
               {built_in("min", i64), CellOp::max, "max(a, min(b, c)) = min(max(a, b), max(a, c))"},
               {built_in("any", boolean), CellOp::logical_and, "a and (b or c) = (a and b) or (a and c)"},
               {own_min(f64), CellOp::add, "a + own(b, c) = own(a + b, a + c)"},
               {parity(i32), CellOp::bitand_, "bitand(a, bitxor(b, c)) = bitxor(bitand(a, b), bitand(a, c))"},
               {built_in("min", i64), CellOp::add, nullptr},  // sums wrap
               {own_min(i32), CellOp::add, nullptr},          // likewise
               {built_in("sum", i64), CellOp::add, nullptr},
               {built_in("max", f64), CellOp::mul, nullptr},  // not of negative numbers
               {built_in("prod", f64), CellOp::mul, nullptr},
               {parity(i32), CellOp::bitor_, nullptr},
               {built_in("sum", f16), CellOp::mul, nullptr}};  // rounded in between
  for (const auto& c : cases) {
    SCOPED_TRACE(c.plus.name + " of " + std::string(info(c.times).name));
    Program program;
    Operator op = operator_of(program, chain(), {c.plus, c.times});
    Reassociation r = reassociated(program, op);
    ASSERT_EQ(r.program != nullptr, c.law != nullptr) << r.rule << r.remark;
    if (!c.law) continue;
    EXPECT_EQ(r.rule, "product in the order ((x0 x1) x2): 56 operations instead of 144, by " + std::string(c.law));
    EXPECT_TRUE(is_contraction_order(r.rule));
    expect_same_values(program, op, r);
  }
}

TEST(Contraction, LawsThatAreBrokenForbidIt) {
  Monoid plus = own_min(f64);
  plus.laws.commutative = Law::broken;
  Program program;
  EXPECT_FALSE(reassociated(program, operator_of(program, chain(), {plus, CellOp::add})).program);
}

TEST(Contraction, FloatsAsWrittenStay) {
  Program program;
  Operator floats = operator_of(program, chain(), {*builtin_monoid("sum", f32), CellOp::mul});
  EXPECT_FALSE(reassociated(program, floats, true).program);
  EXPECT_TRUE(reassociated(program, operator_of(program, chain()), true).program);
}

TEST(Contraction, FactorsThatAreSharedDoNotGrowWithoutEnd) {
  // ((x²)²)²… forty times is a product of 2^40 factors, and of forty cells.
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3), j = b.reduction("j", 3);
  CellId cell = b.read(b.operand(i64, {3, 3}), {b[i], b[j]});
  b.result(i64, {3}, {b[i]});
  for (int k = 0; k < 40; ++k) cell = b.apply(CellOp::mul, {cell, cell});
  Reassociation r = reassociated(program, b.reduce(add_monoid(program, "sum", i64), {cell}));
  EXPECT_FALSE(r.program);
  EXPECT_NE(r.remark.find("64 dims or factors"), std::string::npos) << r.remark;
}

TEST(Contraction, FactorsMayBeAnything) {
  Program program;
  // y[i] = sum[j, k] x[i + j] * (w[j] + 1) * k * v[k]: a window, arithmetic, an index
  Build b("y");
  auto i = b.parallel("i", 5), j = b.reduction("j", 3), k = b.reduction("k", 4);
  auto x = b.operand(i64, {7}), w = b.operand(i64, {3}), v = b.operand(i64, {4});
  b.result(i64, {5}, {b[i]});
  CellId more = b.apply(CellOp::add, {b.read(w, {b[j]}), b.literal(i64, 1)});
  CellId product = b.apply(CellOp::mul, {b.read(x, {b[i] + b[j]}), more});
  product = b.apply(CellOp::mul, {product, b.index(k)});
  Operator op = b.reduce(add_monoid(program, "sum", i64), {b.apply(CellOp::mul, {product, b.read(v, {b[k]})})});
  expect_same_values(program, op, reassociated(program, op));
}

TEST(Contraction, WhatCanFailStays) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3), j = b.reduction("j", 0), k = b.reduction("k", 4);
  auto x = b.operand(i64, {3}), w = b.operand(i64, {0}), v = b.operand(i64, {4});
  b.result(i64, {3}, {b[i]});
  CellId quotient = b.apply(CellOp::div, {b.literal(i64, 1), b.read(v, {b[k]})});
  CellId product = b.apply(CellOp::mul, {b.apply(CellOp::mul, {b.read(x, {b[i]}), b.read(w, {b[j]})}), quotient});
  Reassociation r = reassociated(program, b.reduce(add_monoid(program, "sum", i64), {product}));
  EXPECT_FALSE(r.program);
  EXPECT_NE(r.remark.find("can fail"), std::string::npos) << r.remark;
}

}  // namespace
}  // namespace tap::passes
