// Bounds: no other evaluation in narrow floats leaves them, and they are not absurdly wide.
#include "ir/interpret/interpret_bounds.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "monoids.h"
#include "perturbed.h"

#include "ir/graph.h"

namespace tap::ir::test {
namespace {

using Values = std::vector<double>;

InterpretResult evaluate_with_bounds(const Program& program, const Operator& op, const std::vector<Tensor>& inputs) {
  InterpretOptions options;
  options.with_bounds = true;
  return evaluate(program, op, inputs, options);
}

bool within(double value, double center, double bound) {
  if (value == center || (std::isnan(value) && std::isnan(center)) || bound == inf) return true;
  return std::fabs(value - center) <= bound;  // false if just one is NaN or infinite
}

double random_float(std::mt19937& rng, ElementType type) {
  static const double special[] = {0, 1, -1, 0.5, 2, -0.0, 1e-3, 100};
  if (std::uniform_int_distribution<>(0, 4)(rng) == 0) return special[std::uniform_int_distribution<>(0, 7)(rng)];
  double scale = std::exp2(std::uniform_real_distribution<>(-12, 6)(rng));
  return round_to(std::uniform_real_distribution<>(-1, 1)(rng) * scale, type);
}

// A random expression of a float type over reads of the operands 0, 1, 2.
class RandomCell {
 public:
  RandomCell(Build& b, ElementType type, std::vector<CellId> reads, std::mt19937& rng)
      : b_(b), type_(type), pool_(std::move(reads)), rng_(rng) {}

  CellId grow(int nodes) {
    for (int k = 0; k < nodes; ++k) pool_.push_back(node());
    return pool_.back();
  }

 private:
  int pick(int n) { return std::uniform_int_distribution<>(0, n - 1)(rng_); }
  CellId any() {
    if (pick(6) == 0) return b_.literal(type_, random_float(rng_, type_));
    return pick(2) == 0 ? pool_.back() : pool_[static_cast<std::size_t>(pick(static_cast<int>(pool_.size())))];
  }
  CellId condition() {
    static const CellOp ops[] = {CellOp::less, CellOp::less_equal, CellOp::equal, CellOp::not_equal};
    CellId compared = b_.apply(ops[pick(4)], {any(), any()});
    if (pick(3) == 0) compared = b_.apply(pick(2) ? CellOp::logical_and : CellOp::logical_or, {compared, condition()});
    if (pick(4) == 0) compared = b_.apply(CellOp::logical_not, {compared});
    return compared;
  }
  CellId node() {
    static const CellOp binary[] = {CellOp::add, CellOp::sub, CellOp::mul, CellOp::add, CellOp::mul,
                                    CellOp::div, CellOp::min, CellOp::max, CellOp::mod, CellOp::pow};
    static const CellOp unary[] = {
        CellOp::neg,   CellOp::abs,   CellOp::sign,  CellOp::exp,  CellOp::log,    CellOp::log1p, CellOp::expm1,
        CellOp::sqrt,  CellOp::rsqrt, CellOp::floor, CellOp::ceil, CellOp::round,  CellOp::sin,   CellOp::cos,
        CellOp::tan,   CellOp::asin,  CellOp::acos,  CellOp::atan, CellOp::sinh,   CellOp::cosh,  CellOp::tanh,
        CellOp::asinh, CellOp::acosh, CellOp::atanh, CellOp::erf,  CellOp::sigmoid};
    switch (pick(8)) {
      case 0:
      case 1: return b_.apply(unary[pick(std::size(unary))], {any()});
      case 2: return b_.apply(CellOp::select, {condition(), any(), any()});
      case 3: return b_.cast(b_.apply(CellOp::add, {b_.cast(any(), i32), b_.literal(i32, pick(3))}), type_);
      default: return b_.apply(binary[pick(std::size(binary))], {any(), any()});
    }
  }

  Build& b_;
  ElementType type_;
  std::vector<CellId> pool_;
  std::mt19937& rng_;
};

// y[i] = a random expression of x0[i], x1[i], x2[i]
void check_random_map(ElementType type, std::uint32_t seed) {
  constexpr std::int64_t n = 6;
  std::mt19937 rng(seed);
  Build b("y");
  auto i = b.parallel("i", n);
  std::vector<CellId> reads;
  std::vector<Tensor> inputs;
  for (std::uint32_t k = 0; k < 3; ++k) {
    b.operand(type, {n});
    reads.push_back(b.read(k, {b[i]}));
    Values values;
    for (int c = 0; c < n; ++c) values.push_back(random_float(rng, type));
    inputs.push_back(tensor(type, {n}, values));
  }
  b.result(type, {n}, {b[i]});
  CellId root = RandomCell(b, type, reads, rng).grow(std::uniform_int_distribution<>(1, 12)(rng));
  Operator op = b.map({root});
  InterpretResult r = evaluate_with_bounds({}, op, inputs);
  std::int64_t finite = 0;
  for (std::int64_t c = 0; c < n; ++c) {
    Perturbed other(op.exprs, rng);
    other.leaf = [&](const CellNode& node) {
      return oracle::number(inputs[op.reads[node.attribute].tensor].load_f64(c));
    };
    double center = r.outputs[0].load_f64(c), bound = r.bounds[0].load_f64(c);
    finite += bound < inf;
    for (int attempt = 0; attempt < 10; ++attempt) {
      double value = round_to(other(root).f, type);
      if (!within(value, center, bound))
        RC_LOG() << "point " << c << ": " << value << " is not within " << bound << " of " << center << "\n";
      RC_ASSERT(within(value, center, bound));
    }
  }
  RC_CLASSIFY(finite == n, "all bounds are finite");
}

RC_GTEST_PROP(InterpretBounds, ContainF32Evaluations, (std::uint32_t seed)) { check_random_map(f32, seed); }
RC_GTEST_PROP(InterpretBounds, ContainF16Evaluations, (std::uint32_t seed)) { check_random_map(f16, seed); }
RC_GTEST_PROP(InterpretBounds, ContainBf16Evaluations, (std::uint32_t seed)) { check_random_map(bf16, seed); }

// y = reduce[k] of random terms t[k] = x0[k] * x1[k] + x2[k], over random trees; commutative ones also in random order.
void check_random_reduction(const Monoid& monoid, bool commutative, std::uint32_t seed) {
  std::mt19937 rng(seed);
  auto n = std::uniform_int_distribution<std::int64_t>(0, 40)(rng);
  Program program;
  program.monoids.push_back(monoid);
  Build b("y");
  auto k = b.reduction("k", n);
  std::vector<CellId> operands;
  std::vector<Tensor> inputs;
  for (std::uint32_t c = 0; c < monoid.arity(); ++c) {
    for (std::uint32_t v = 0; v < 2; ++v) {
      b.operand(f32, {n});
      Values values;
      for (int t = 0; t < n; ++t) values.push_back(random_float(rng, f32));
      inputs.push_back(tensor(f32, {n}, values));
    }
    b.result(monoid.components[c].type, {}, {});
    CellId product = b.apply(CellOp::mul, {b.read(2 * c, {b[k]}), b.read(2 * c + 1, {b[k]})});
    operands.push_back(monoid.components[c].type == f32 ? product : b.index(k));
  }
  Operator op = b.reduce(MonoidId(0), operands);
  InterpretResult r = evaluate_with_bounds(program, op, inputs);
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::vector<std::vector<Number>> terms;
    for (std::int64_t t = 0; t < n; ++t) {
      Perturbed term(op.exprs, rng);
      terms.emplace_back();
      term.leaf = [&](const CellNode& node) {
        return oracle::number(inputs[op.reads[node.attribute].tensor].load_f64(t));
      };
      for (std::size_t c = 0; c < operands.size(); ++c) {
        bool real = monoid.components[c].type == f32;
        terms.back().push_back(real ? term(operands[c]) : oracle::integer(t));
      }
    }
    if (commutative) std::shuffle(terms.begin(), terms.end(), rng);
    auto value = combine_over_random_tree(monoid, terms, 0, terms.size(), rng);
    for (std::size_t c = 0; c < value.size(); ++c) {
      bool real = monoid.components[c].type == f32;
      double got = real ? round_to(value[c].f, f32) : static_cast<double>(value[c].i);
      double center = r.outputs[c].load_f64(0), bound = r.bounds[c].load_f64(0);
      if (!within(got, center, bound))
        RC_LOG() << "component " << c << ": " << got << " is not within " << bound << " of " << center << "\n";
      RC_ASSERT(within(got, center, bound));
    }
  }
}

RC_GTEST_PROP(InterpretBounds, SumsInAnyOrder, (std::uint32_t seed)) {
  check_random_reduction(*builtin_monoid("sum", f32), true, seed);
}
RC_GTEST_PROP(InterpretBounds, ProductsInAnyOrder, (std::uint32_t seed)) {
  check_random_reduction(*builtin_monoid("prod", f32), true, seed);
}
RC_GTEST_PROP(InterpretBounds, MaximaInAnyOrder, (std::uint32_t seed)) {
  check_random_reduction(*builtin_monoid("max", f32), true, seed);
}

RC_GTEST_PROP(InterpretBounds, AffineCompositionOverAnyTree, (std::uint32_t seed)) {
  check_random_reduction(affine_composition(f32), false, seed);
}
RC_GTEST_PROP(InterpretBounds, ArgmaxOverAnyTree, (std::uint32_t seed)) {
  check_random_reduction(argmax(f32), false, seed);
}
RC_GTEST_PROP(InterpretBounds, OnlineSoftmaxOverAnyTree, (std::uint32_t seed)) {
  check_random_reduction(online_softmax(f32, 1), false, seed);
}

// y = sum[k] x[k] * w[k]
InterpretResult dot_product(std::int64_t n, ElementType type, const Values& x, const Values& w) {
  Program program;
  Build b("y");
  auto k = b.reduction("k", n);
  b.operand(type, {n});
  b.operand(type, {n});
  b.result(type, {}, {});
  CellId term = b.apply(CellOp::mul, {b.read(0, {b[k]}), b.read(1, {b[k]})});
  Operator op = b.reduce(add_monoid(program, "sum", type), {term});
  return evaluate_with_bounds(program, op, {tensor(type, {n}, x), tensor(type, {n}, w)});
}

TEST(InterpretBounds, DotProductIsBoundedReasonably) {
  constexpr std::int64_t n = 1000;
  std::mt19937 rng(1);
  Values x, w;
  for (int k = 0; k < n; ++k) {
    x.push_back(std::uniform_real_distribution<>(-1, 1)(rng));
    w.push_back(std::uniform_real_distribution<>(-1, 1)(rng));
  }
  double bound = dot_product(n, f32, x, w).bounds[0].load_f64(0);
  EXPECT_GT(bound, 1e-7);
  EXPECT_LT(bound, 0.06);
  EXPECT_LT(dot_product(n, f64, x, w).bounds[0].load_f64(0), 1e-10);
  // Of numbers up to 1 in a thousand terms of size 1/1000 each, as after a softmax.
  for (double& v : w) v = 0.001;
  EXPECT_LT(dot_product(n, f32, x, w).bounds[0].load_f64(0), 1e-4);
}

TEST(InterpretBounds, ExactCellsHaveNone) {
  Build b("y");
  auto i = b.parallel("i", 3);
  b.operand(f32, {3});
  b.result(f32, {3}, {b[i]});
  b.result(i64, {3}, {b[i]});
  CellId x = b.read(0, {b[i]});
  CellId relu = b.apply(CellOp::max, {b.apply(CellOp::neg, {x}), b.literal(f32, 0)});
  auto r = evaluate_with_bounds({}, b.map({relu, b.index(i)}), {tensor(f32, {3}, {0.1, -inf, -3})});
  EXPECT_EQ(values_of(r.bounds[0]), (Values{0, 0, 0}));
  EXPECT_EQ(values_of(r.bounds[1]), (Values{0, 0, 0}));
}

// A sum that might be on either side of a threshold: the bound reaches from one branch to the other.
TEST(InterpretBounds, UncertainBranches) {
  Build b("y");
  auto i = b.parallel("i", 2);
  b.operand(f32, {2});
  b.operand(f32, {2});
  b.operand(i32, {});
  b.result(f32, {2}, {b[i]});
  b.result(i32, {2}, {b[i]});
  b.result(i32, {2}, {b[i]});
  CellId sum = b.apply(CellOp::add, {b.read(0, {b[i]}), b.read(1, {b[i]})});
  CellId positive = b.apply(CellOp::less, {b.literal(f32, 0.5), sum});
  CellId choice = b.apply(CellOp::select, {positive, b.literal(f32, 10), b.literal(f32, 3)});
  CellId failing = b.apply(CellOp::div, {b.literal(i32, 6), b.read(2, {})});
  CellId risky = b.apply(CellOp::select, {positive, b.literal(i32, 3), failing});
  auto op = b.map({choice, b.cast(b.apply(CellOp::mul, {sum, b.literal(f32, 2)}), i32), risky});
  auto r =
      evaluate_with_bounds({}, op, {tensor(f32, {2}, {0.3, 0.6}), tensor(f32, {2}, {0.2, 0.7}), tensor(i32, {}, {0})});
  EXPECT_NEAR(r.bounds[0].load_f64(0), 7, 1e-4);  // 0.3f + 0.2f is a little more than 0.5, or rounds to it
  EXPECT_EQ(r.bounds[0].load_f64(1), 0);
  EXPECT_EQ(values_of(r.bounds[1]), (Values{1, 0}));    // and its double a little more than 1, or below
  EXPECT_EQ(values_of(r.bounds[2]), (Values{inf, 0}));  // what might be taken cannot be evaluated
}

// An uncertain cell may be read later: as a number, and as a coordinate.
TEST(InterpretBounds, ErrorsPassThroughValues) {
  Program program;
  BuildGraph g{program, {}};
  ValueId x = g.input("x", f32, {}), table = g.input("table", f32, {4});
  Build first("t");
  first.operand(f32, {});
  first.result(f32, {}, {});
  first.result(i64, {}, {});
  CellId t = first.apply(CellOp::mul, {first.read(0, {}), first.literal(f32, 3)});
  auto ts = g.add(first.map({t, first.cast(t, i64)}), {x});
  Build second("y");
  second.operand(f32, {});
  second.operand(i64, {});
  second.operand(f32, {4});
  second.result(f32, {}, {});
  second.result(f32, {}, {});
  CellId number = second.read(0, {}), index = second.read(1, {});
  GraphId main = g.finish(
      g.add(second.map({second.apply(CellOp::neg, {number}), second.gather(2, index, {})}), {ts[0], ts[1], table}));
  InterpretOptions options;
  options.with_bounds = true;
  auto r = interpret(program, main, {tensor(f32, {}, {1.0 / 3}), tensor(f32, {4}, {5, 6, 7, 8})}, options);
  EXPECT_GT(r.bounds[0].load_f64(0), 1e-8);
  EXPECT_LT(r.bounds[0].load_f64(0), 1e-6);
  EXPECT_EQ(r.bounds[1].load_f64(0), inf);
  r = interpret(program, main, {tensor(f32, {}, {0.5}), tensor(f32, {4}, {5, 6, 7, 8})}, options);
  EXPECT_EQ(r.outputs[1].load_f64(0), 6);
  EXPECT_EQ(r.bounds[1].load_f64(0), 0);
}

}  // namespace
}  // namespace tap::ir::test
