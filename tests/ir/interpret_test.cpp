// The oracle on hand-built operators: values worked out on paper or by brute force.
#include "ir/interpret/interpret.h"

#include <gtest/gtest.h>

#include <cmath>

#include "monoids.h"

#include "ir/graph.h"

namespace tap::ir::test {
namespace {

using Values = std::vector<double>;

// y[i, o] = b[o] + sum[k] x[i, k] * w[k, o], as two operations: the bias is added to the finished sum.
TEST(Interpret, LinearAddsItsBiasOnce) {  // trap 15
  Program program;
  MonoidId sum = add_monoid(program, "sum", f32);
  BuildGraph g{program, {}};
  ValueId x = g.input("x", f32, {1, 2}), w = g.input("w", f32, {2, 1}), bias = g.input("b", f32, {1});
  Build product("p");
  auto i = product.parallel("i", 1), o = product.parallel("o", 1), k = product.reduction("k", 2);
  product.operand(f32, {1, 2});
  product.operand(f32, {2, 1});
  product.result(f32, {1, 1}, {product[i], product[o]});
  CellId term = product.apply(CellOp::mul,
                              {product.read(0, {product[i], product[k]}), product.read(1, {product[k], product[o]})});
  ValueId p = g.add(product.reduce(sum, {term}), {x, w})[0];
  Build add("y");
  i = add.parallel("i", 1), o = add.parallel("o", 1);
  add.operand(f32, {1, 1});
  add.operand(f32, {1});
  add.result(f32, {1, 1}, {add[i], add[o]});
  CellId y = add.apply(CellOp::add, {add.read(0, {add[i], add[o]}), add.read(1, {add[o]})});
  GraphId main = g.finish(g.add(add.map({y}), {p, bias}));
  auto r = interpret(program, main, {tensor(f32, {1, 2}, {1, 2}), tensor(f32, {2, 1}, {3, 4}), tensor(f32, {1}, {10})});
  EXPECT_EQ(values_of(r.outputs[0]), Values{21});
}

TEST(Interpret, MatrixProductAgreesWithLoops) {
  constexpr int n = 5, m = 7, l = 6;
  Program program;
  Build b("y");
  auto i = b.parallel("i", n), o = b.parallel("o", m), k = b.reduction("k", l);
  b.operand(f64, {n, l});
  b.operand(f64, {l, m});
  b.result(f64, {n, m}, {b[i], b[o]});
  CellId term = b.apply(CellOp::mul, {b.read(0, {b[i], b[k]}), b.read(1, {b[k], b[o]})});
  Operator op = b.reduce(add_monoid(program, "sum", f64), {term});
  Values x(n * l), w(l * m), expected;
  for (std::size_t c = 0; c < x.size(); ++c) x[c] = static_cast<double>(c % 11) - 4;
  for (std::size_t c = 0; c < w.size(); ++c) w[c] = static_cast<double>(c % 7) - 3;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < m; ++c) {
      double s = 0;
      for (int q = 0; q < l; ++q) s += x[r * l + q] * w[q * m + c];
      expected.push_back(s);
    }
  auto result = evaluate(program, op, {tensor(f64, {n, l}, x), tensor(f64, {l, m}, w)});
  EXPECT_EQ(values_of(result.outputs[0]), expected);
}

// y = reduce[k] x[k]
Values reduce_all(std::string_view monoid, ElementType type, const Values& x) {
  Program program;
  auto n = static_cast<std::int64_t>(x.size());
  Build b("y");
  auto k = b.reduction("k", n);
  b.operand(type, {n});
  b.result(type, {}, {});
  Operator op = b.reduce(add_monoid(program, monoid, type), {b.read(0, {b[k]})});
  return values_of(evaluate(program, op, {tensor(type, {n}, x)}).outputs[0]);
}

TEST(Interpret, BuiltInReductions) {
  EXPECT_EQ(reduce_all("sum", f32, {1, 2, 3}), Values{6});
  EXPECT_EQ(reduce_all("prod", i32, {2, 3, 4}), Values{24});
  EXPECT_EQ(reduce_all("max", f32, {-1, -1, -1, -1, -1}), Values{-1});  // trap 13: padding must not leak
  EXPECT_EQ(reduce_all("min", i8, {5, -3, 4}), Values{-3});
  EXPECT_EQ(reduce_all("any", boolean, {0, 1, 0}), Values{1});
  EXPECT_EQ(reduce_all("all", boolean, {1, 1, 0}), Values{0});
  EXPECT_EQ(reduce_all("sum", i8, {100, 100}), Values{-56});  // a sum of i8 is i8
}

TEST(Interpret, EmptyReductionsGiveTheIdentity) {  // trap 9
  EXPECT_EQ(reduce_all("sum", f32, {}), Values{0});
  EXPECT_EQ(reduce_all("prod", f32, {}), Values{1});
  EXPECT_EQ(reduce_all("max", f32, {}), Values{-inf});
  EXPECT_EQ(reduce_all("min", i32, {}), Values{2147483647});
  EXPECT_EQ(reduce_all("all", boolean, {}), Values{1});
}

TEST(Interpret, MinAndMaxPropagateNan) {
  EXPECT_TRUE(std::isnan(reduce_all("max", f32, {1, nan, 3})[0]));
  EXPECT_TRUE(std::isnan(reduce_all("min", f64, {nan, 2})[0]));
}

TEST(Interpret, SumOfExponentialsAndMean) {  // traps 13 and 14
  Program program;
  MonoidId sum = add_monoid(program, "sum", f32);
  Build b("s");
  auto k = b.reduction("k", 5);
  b.operand(f32, {5});
  b.result(f32, {}, {});
  Operator op = b.reduce(sum, {b.apply(CellOp::exp, {b.read(0, {b[k]})})});
  EXPECT_EQ(values_of(evaluate(program, op, {tensor(f32, {5}, {0, 0, 0, 0, 0})}).outputs[0]), Values{5});

  BuildGraph g{program, {}};
  ValueId x = g.input("x", f32, {5});
  Build total("s");
  k = total.reduction("k", 5);
  total.operand(f32, {5});
  total.result(f32, {}, {});
  ValueId s = g.add(total.reduce(sum, {total.read(0, {total[k]})}), {x})[0];
  Build mean("m");
  mean.operand(f32, {});
  mean.result(f32, {}, {});
  CellId quotient = mean.apply(CellOp::div, {mean.read(0, {}), mean.literal(f32, 5)});
  GraphId main = g.finish(g.add(mean.map({quotient}), {s}));
  EXPECT_EQ(values_of(interpret(program, main, {tensor(f32, {5}, {1, 2, 3, 4, 5})}).outputs[0]), Values{3});
}

TEST(Interpret, NonLinearConsumerSeesTheWholeSum) {  // trap 16
  Program program;
  BuildGraph g{program, {}};
  ValueId x = g.input("x", f32, {2});
  Build total("s");
  auto k = total.reduction("k", 2);
  total.operand(f32, {2});
  total.result(f32, {}, {});
  ValueId s = g.add(total.reduce(add_monoid(program, "sum", f32), {total.read(0, {total[k]})}), {x})[0];
  Build b("y");
  b.operand(f32, {});
  b.result(f32, {}, {});
  GraphId main = g.finish(g.add(b.map({b.apply(CellOp::abs, {b.read(0, {})})}), {s}));
  EXPECT_EQ(values_of(interpret(program, main, {tensor(f32, {2}, {3, -5})}).outputs[0]), Values{2});
}

TEST(Interpret, RecurrenceByAffineComposition) {  // trap 18
  Program program;
  program.monoids.push_back(affine_composition(f64));
  Build b("h");
  auto i = b.parallel("i", 4), k = b.reduction("k", 4);
  b.require_at_least_zero(b[i] - b[k]);
  b.operand(f64, {4});
  b.operand(f64, {4});
  b.result(f64, {4}, {b[i]});
  b.result(f64, {4}, {b[i]});
  Operator op = b.reduce(MonoidId(0), {b.read(0, {b[k]}), b.read(1, {b[k]})});
  Values a{2, 3, 5, 7}, add{1, 10, 100, 1000}, products, h;
  double product = 1, state = 0;
  for (int t = 0; t < 4; ++t) {
    products.push_back(product *= a[t]);
    h.push_back(state = a[t] * state + add[t]);
  }
  auto r = evaluate(program, op, {tensor(f64, {4}, a), tensor(f64, {4}, add)});
  EXPECT_EQ(values_of(r.outputs[0]), products);
  EXPECT_EQ(values_of(r.outputs[1]), h);
}

TEST(Interpret, ArgmaxTakesTheFirstOfEquals) {
  Program program;
  program.monoids.push_back(argmax(f32));
  Build b("top");
  auto i = b.parallel("i", 3), k = b.reduction("k", 4);
  b.operand(f32, {3, 4});
  b.result(f32, {3}, {b[i]});
  b.result(i64, {3}, {b[i]});
  CellId x = b.read(0, {b[i], b[k]});
  Operator op = b.reduce(MonoidId(0), {x, b.index(k)});
  auto r = evaluate(program, op, {tensor(f32, {3, 4}, {1, 9, 3, 9, 5, 5, 5, 5, -inf, -4, -2, -3})});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{9, 5, -2}));
  EXPECT_EQ(values_of(r.outputs[1]), (Values{1, 0, 2}));
}

TEST(Interpret, OnlineSoftmaxAgreesWithTwoPasses) {
  constexpr int n = 2, keys = 5, width = 3;
  Program program;
  program.monoids.push_back(online_softmax(f64, 2));
  Build b("attention");
  auto i = b.parallel("i", n), c = b.parallel("c", width), j = b.reduction("j", keys);
  b.operand(f64, {n, keys});
  b.operand(f64, {keys, width});
  b.result(f64, {n}, {b[i]}, {c});
  b.result(f64, {n}, {b[i]}, {c});
  b.result(f64, {n, width}, {b[i], b[c]});
  Operator op = b.reduce(MonoidId(0), {b.read(0, {b[i], b[j]}), b.literal(f64, 1), b.read(1, {b[j], b[c]})});
  Values t{1, 4, -2, 4, 0, 700, -700, 0, 699, 1}, v;
  for (int k = 0; k < keys * width; ++k) v.push_back(std::sin(k));
  auto r = evaluate(program, op, {tensor(f64, {n, keys}, t), tensor(f64, {keys, width}, v)});
  for (int row = 0; row < n; ++row) {
    double m = -inf, s = 0;
    for (int k = 0; k < keys; ++k) m = std::max(m, t[row * keys + k]);
    for (int k = 0; k < keys; ++k) s += std::exp(t[row * keys + k] - m);
    EXPECT_EQ(r.outputs[0].load_f64(row), m);
    EXPECT_NEAR(r.outputs[1].load_f64(row), s, 1e-14);
    for (int col = 0; col < width; ++col) {
      double o = 0;
      for (int k = 0; k < keys; ++k) o += std::exp(t[row * keys + k] - m) * v[k * width + col];
      EXPECT_NEAR(r.outputs[2].load_f64(row * width + col), o, 1e-14);
    }
  }
}

TEST(Interpret, ReversedAndStridedWrites) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3), r = b.parallel("r", 2);
  b.operand(f32, {3});
  b.result(f32, {6}, {at_constant(5) - (2 * b[i] + b[r])});
  Operator op = b.map({b.read(0, {b[i]})});
  EXPECT_EQ(values_of(evaluate(program, op, {tensor(f32, {3}, {1, 2, 3})}).outputs[0]), (Values{3, 3, 2, 2, 1, 1}));
}

TEST(Interpret, TriangularDomainLeavesTheRestToOtherWriters) {
  Program program;
  BuildGraph g{program, {}};
  ValueId x = g.input("x", f32, {3});
  ValueId y = g.value("y", {f32, {3, 3}});
  for (bool upper : {false, true}) {
    Build b("y");
    auto i = b.parallel("i", 3), j = b.parallel("j", 3);
    b.require_at_least_zero(upper ? b[j] - b[i] - 1 : b[i] - b[j]);
    b.operand(f32, {3});
    b.result(f32, {3, 3}, {b[i], b[j]});
    CellId value = upper ? b.literal(f32, -1) : b.read(0, {b[j]});
    g.write(b.map({value}), {x}, {y});
  }
  GraphId main = g.finish({y});
  EXPECT_EQ(values_of(interpret(program, main, {tensor(f32, {3}, {1, 2, 3})}).outputs[0]),
            (Values{1, -1, -1, 1, 2, -1, 1, 2, 3}));
}

TEST(Interpret, EqualityConstraintsPickTheDiagonal) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 3), j = b.reduction("j", 3), k = b.reduction("k", 3);
  b.require_zero(b[j] + b[k] - 2 * b[i]);
  b.operand(f32, {3, 3});
  b.result(f32, {3}, {b[i]});
  Operator op = b.reduce(add_monoid(program, "sum", f32), {b.read(0, {b[j], b[k]})});
  // i = 0: (0,0); i = 1: (0,2), (1,1), (2,0); i = 2: (2,2)
  EXPECT_EQ(values_of(evaluate(program, op, {tensor(f32, {3, 3}, {1, 2, 4, 8, 16, 32, 64, 128, 256})}).outputs[0]),
            (Values{1, 84, 256}));
}

TEST(Interpret, ZeroSizesGiveEmptyResults) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 0), k = b.reduction("k", 3);
  b.operand(f32, {0, 3});
  b.result(f32, {0}, {b[i]});
  Operator op = b.reduce(add_monoid(program, "sum", f32), {b.read(0, {b[i], b[k]})});
  EXPECT_EQ(evaluate(program, op, {tensor(f32, {0, 3}, {})}).outputs[0].size(), 0);
}

TEST(Interpret, ConcatHasTwoWriters) {
  Program program;
  BuildGraph g{program, {}};
  ValueId a = g.input("a", i32, {2}), c = g.input("b", i32, {3});
  ValueId y = g.value("y", {i32, {5}});
  for (bool second : {false, true}) {
    Build b("y");
    auto i = b.parallel("i", second ? 3 : 2);
    b.operand(i32, {second ? 3 : 2});
    b.result(i32, {5}, {second ? b[i] + 2 : b[i]});
    g.write(b.map({b.read(0, {b[i]})}), {second ? c : a}, {y});
  }
  GraphId main = g.finish({y, a});
  auto r = interpret(program, main, {tensor(i32, {2}, {1, 2}), tensor(i32, {3}, {3, 4, 5})});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of(r.outputs[1]), (Values{1, 2}));
}

// y[i] = x[i-1 else 0] + x[i] + x[i+1 else 0]
Operator three_point(std::int64_t n) {
  Build b("y");
  auto i = b.parallel("i", n);
  auto x = b.operand(f32, {n});
  b.result(f32, {n}, {b[i]});
  CellId zero = b.literal(f32, 0);
  CellId left = b.read(x, {b[i] - 1}, zero), mid = b.read(x, {b[i]}), right = b.read(x, {b[i] + 1}, zero);
  return b.map({b.apply(CellOp::add, {b.apply(CellOp::add, {left, mid}), right})});
}

TEST(Interpret, FillsAreNotComputedAcrossTrips) {  // trap 37
  Program program;
  BuildGraph body{program, {}};
  ValueId x = body.input("x", f32, {3});
  GraphId step = body.finish(body.add(three_point(3), {x}));
  BuildGraph g{program, {}};
  ValueId x0 = g.input("x0", f32, {3});
  Operator loop;
  loop.name = "loop";
  loop.operands = loop.results = {{f32, {3}}};
  loop.body = RegionBody{RegionKind::iterate, step, {0, 2}};
  GraphId main = g.finish(g.add(loop, {x0}));
  EXPECT_EQ(values_of(interpret(program, main, {tensor(f32, {3}, {1, 1, 1})}).outputs[0]), (Values{5, 7, 5}));
}

}  // namespace
}  // namespace tap::ir::test
