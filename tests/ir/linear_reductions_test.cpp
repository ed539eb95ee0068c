// Scans and scatters in linear work: equal to the definition on random instances, and quick.
#include "ir/interpret/linear_reductions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "build.h"
#include "sample_programs.h"

namespace tap::ir::test {
namespace {

using samples::seconds_of;
using Values = std::vector<double>;

// 2×2 integer matrices modulo 2^64 under multiplication: associative, exact, not commutative.
Monoid matrices() {
  Monoid m;
  m.name = "matrices";
  CellExprs& e = m.exprs;
  std::vector<CellId> a, b;
  for (std::uint32_t k = 0; k < 4; ++k) m.components.push_back({std::string(1, static_cast<char>('p' + k)), i64});
  for (std::uint32_t k = 0; k < 4; ++k) a.push_back(e.argument(k, i64));
  for (std::uint32_t k = 4; k < 8; ++k) b.push_back(e.argument(k, i64));
  auto dot = [&](int row, int col) {
    return e.apply(
        CellOp::add, i64,
        {e.apply(CellOp::mul, i64, {a[2 * row], b[col]}), e.apply(CellOp::mul, i64, {a[2 * row + 1], b[2 + col]})});
  };
  for (int k = 0; k < 4; ++k) {
    m.identity.push_back(e.constant(Scalar::integer(i64, k == 0 || k == 3)));
    m.combine.push_back(dot(k / 2, k % 2));
  }
  return m;
}

void expect_same_as_definition(const Program& program, const Operator& op, const std::vector<Tensor>& inputs) {
  InterpretOptions naive;
  naive.naive = true;
  auto slow = evaluate(program, op, inputs, naive), fast = evaluate(program, op, inputs);
  for (std::size_t k = 0; k < slow.outputs.size(); ++k)
    RC_ASSERT(values_of(slow.outputs[k]) == values_of(fast.outputs[k]));
}

Values random_values(std::size_t n, int lo, int hi) {
  return *rc::gen::container<Values>(
      n, rc::gen::map(rc::gen::inRange(lo, hi), [](int v) { return static_cast<double>(v); }));
}

// y[j, i] = combine over k, from a tie a·k + b·i + c·j + d >= 0, of rows of a table that starts with row j
RC_GTEST_PROP(InterpretScan, EqualsTheDefinition, ()) {
  auto n = *rc::gen::inRange(0, 7), m = *rc::gen::inRange(0, 7);
  int a = *rc::gen::element(-2, -1, 1, 2), c = *rc::gen::element(-1, 0, 1), d = *rc::gen::inRange(-4, 8);
  int along = *rc::gen::element(-2, -1, 1, 2);
  bool noncommutative = *rc::gen::arbitrary<bool>(), constrained = *rc::gen::arbitrary<bool>();
  Program program;
  program.monoids.push_back(noncommutative ? matrices() : builtin_monoid("sum", i64).value());
  std::size_t arity = program.monoids[0].arity();
  Build b("y");
  auto j = b.parallel("j", 3), i = b.parallel("i", n), k = b.reduction("k", m);
  b.require_at_least_zero(a * b[k] + along * b[i] + c * b[j] + d);
  if (constrained) b.require_at_least_zero(b[k] + b[j] - 2);
  b.operand(i64, {3, m, static_cast<std::int64_t>(arity)});
  std::vector<CellId> operands;
  for (std::size_t v = 0; v < arity; ++v) {
    b.result(i64, {3, n}, {b[j], b[i]});
    operands.push_back(b.read(0, {b[j], b[k], at_constant(static_cast<std::int64_t>(v))}));
  }
  Operator op = b.reduce(MonoidId(0), operands);
  auto scan = find_scan(op);
  RC_ASSERT(scan.has_value());
  RC_ASSERT(scan->ascending == (along > 0));
  RC_ASSERT(scan->at_the_right == (a < 0));
  expect_same_as_definition(
      program, op, {tensor(i64, {3, m, static_cast<std::int64_t>(arity)}, random_values(3 * m * arity, -3, 4))});
}

Operator prefix_sum(Program& program, std::int64_t n) {
  Build b("y");
  auto i = b.parallel("i", n), k = b.reduction("k", n);
  b.require_at_least_zero(b[i] - b[k]);
  b.operand(f32, {n});
  b.result(f32, {n}, {b[i]});
  return b.reduce(add_monoid(program, "sum", f32), {b.read(0, {b[k]})});
}

TEST(InterpretScan, IsLinear) {
  constexpr std::int64_t n = 300'000;
  Program program;
  Operator op = prefix_sum(program, n);
  Tensor ones = tensor(f32, {n}, Values(n, 1.0));
  InterpretResult r;
  EXPECT_LT(seconds_of([&] { r = evaluate(program, op, {ones}); }), 5.0);  // 4.5·10^10 terms by the definition
  EXPECT_EQ(r.outputs[0].load_f64(n - 1), n);
}

// What is no scan: two moving ends, an operand that depends on the cell, an equality.
TEST(InterpretScan, IsNotFoundInOtherReductions) {
  Program program;
  MonoidId sum = add_monoid(program, "sum", f32);
  auto with = [&](const std::function<CellId(Build&)>& extra) {
    Build b("y");
    b.parallel("i", 4);
    b.reduction("k", 4);
    b.operand(f32, {4, 4});
    b.result(f32, {4}, {b[0]});
    CellId operand = extra(b);
    return find_scan(b.reduce(sum, {operand})).has_value();
  };
  EXPECT_FALSE(with([](Build& b) { return b.read(0, {b[1], b[1]}); }));
  EXPECT_TRUE(with([](Build& b) {
    b.require_at_least_zero(b[0] - b[1]);
    return b.read(0, {b[1], b[1]});
  }));
  EXPECT_FALSE(with([](Build& b) {
    b.require_at_least_zero(b[0] - b[1]);
    return b.read(0, {b[0], b[1]});
  }));
  EXPECT_FALSE(with([](Build& b) {
    b.require_zero(b[0] - b[1]);
    return b.read(0, {b[1], b[1]});
  }));
  EXPECT_FALSE(with([](Build& b) {
    b.require_at_least_zero(b[0] - b[1]);
    b.require_at_least_zero(b[1] - b[0] + 2);
    return b.read(0, {b[1], b[1]});
  }));
}

// y[v, d] = sum[t] (if ids[t] == v + shift and keep[t] then g[t, d] else 0), in one of several spellings
struct ScatterForm {
  ElementType id_type;
  bool flipped;     // v == ids[t]
  bool inverted;    // if ids[t] != v then 0 else g
  bool keep_first;  // keep[t] and ids[t] == v
  bool keep_last;
  std::int64_t shift;
  std::int64_t sign;
};

Operator scatter(Program& program, const ScatterForm& form, std::int64_t vocabulary, std::int64_t tokens,
                 std::int64_t width) {
  Build b("y");
  auto v = b.parallel("v", vocabulary), d = b.parallel("d", width), t = b.reduction("t", tokens);
  auto ids = b.operand(form.id_type, {tokens}), g = b.operand(f32, {tokens, width}),
       keep = b.operand(boolean, {tokens});
  b.result(f32, {vocabulary, width}, {b[v], b[d]});
  CellId value = b.index(v);
  if (form.sign < 0) value = b.apply(CellOp::neg, {value});
  if (form.shift != 0) value = b.apply(CellOp::add, {value, b.literal(i64, static_cast<double>(form.shift))});
  CellId id = b.read(ids, {b[t]});
  value = b.cast(value, form.id_type);
  std::vector<CellId> sides{id, value};
  if (form.flipped) std::swap(sides[0], sides[1]);
  CellId condition = b.apply(form.inverted ? CellOp::not_equal : CellOp::equal, sides);
  CellId kept = b.read(keep, {b[t]});
  if (form.keep_first) condition = b.apply(CellOp::logical_and, {kept, condition});
  if (form.keep_last) condition = b.apply(CellOp::logical_and, {condition, kept});
  CellId term = b.read(g, {b[t], b[d]}), zero = b.literal(f32, 0);
  CellId operand = form.inverted ? b.apply(CellOp::select, {condition, zero, term})
                                 : b.apply(CellOp::select, {condition, term, zero});
  return b.reduce(add_monoid(program, "sum", f32), {operand});
}

RC_GTEST_PROP(InterpretScatter, EqualsTheDefinition, ()) {
  auto vocabulary = *rc::gen::inRange(0, 6), tokens = *rc::gen::inRange(0, 9), width = *rc::gen::inRange(0, 4);
  ScatterForm form;
  form.id_type = *rc::gen::element(i64, i32, i8);
  form.flipped = *rc::gen::arbitrary<bool>();
  form.inverted = *rc::gen::arbitrary<bool>();
  form.keep_first = !form.inverted && *rc::gen::arbitrary<bool>();
  form.keep_last = !form.inverted && *rc::gen::arbitrary<bool>();
  form.shift = *rc::gen::inRange(-3, 4);
  form.sign = *rc::gen::element(-1, 1);
  Program program;
  Operator op = scatter(program, form, vocabulary, tokens, width);
  RC_ASSERT(find_scatter(op, program.monoids[0]).has_value());
  auto n = static_cast<std::size_t>(tokens);
  expect_same_as_definition(program, op,
                            {tensor(form.id_type, {tokens}, random_values(n, -8, 9)),
                             tensor(f32, {tokens, width}, random_values(n * width, -9, 10)),
                             tensor(boolean, {tokens}, random_values(n, 0, 2))});
}

// Two targets at once, a monoid that is not commutative, and constraints on the cells.
RC_GTEST_PROP(InterpretScatter, TwoTargetsInOrder, ()) {
  auto n = *rc::gen::inRange(1, 5), tokens = *rc::gen::inRange(0, 12);
  Program program;
  program.monoids.push_back(matrices());
  Build b("y");
  auto u = b.parallel("u", n), v = b.parallel("v", n), t = b.reduction("t", tokens);
  b.require_at_least_zero(b[u] - b[v] + 1);
  auto rows = b.operand(i64, {tokens}), cols = b.operand(i64, {tokens}), g = b.operand(i64, {tokens, 4});
  CellId hit = b.apply(CellOp::logical_and, {b.apply(CellOp::equal, {b.read(rows, {b[t]}), b.index(u)}),
                                             b.apply(CellOp::equal, {b.index(v), b.read(cols, {b[t]})})});
  std::vector<CellId> operands;
  for (int k = 0; k < 4; ++k) {
    b.result(i64, {n, n}, {b[u], b[v]});
    operands.push_back(
        b.apply(CellOp::select, {hit, b.read(g, {b[t], at_constant(k)}), b.literal(i64, k == 0 || k == 3)}));
  }
  Operator op = b.reduce(MonoidId(0), operands);
  auto found = find_scatter(op, program.monoids[0]);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->targets.size() == 2u);
  auto count = static_cast<std::size_t>(tokens);
  expect_same_as_definition(
      program, op,
      {tensor(i64, {tokens}, random_values(count, -1, n + 1)), tensor(i64, {tokens}, random_values(count, -1, n + 1)),
       tensor(i64, {tokens, 4}, random_values(4 * count, -3, 4))});
}

TEST(InterpretScatter, EmbeddingGradientIsFast) {
  constexpr std::int64_t vocabulary = 50'000, tokens = 2'000, width = 8;
  Program program;
  Operator op = scatter(program, {i32, false, false, false, false, 0, 1}, vocabulary, tokens, width);
  Values ids, g(tokens * width, 1.0);
  for (std::int64_t t = 0; t < tokens; ++t) ids.push_back(static_cast<double>(t * t % 1000));
  std::vector<Tensor> inputs{tensor(i32, {tokens}, ids), tensor(f32, {tokens, width}, g),
                             tensor(boolean, {tokens}, Values(tokens, 1.0))};
  InterpretResult r;
  EXPECT_LT(seconds_of([&] { r = evaluate(program, op, inputs); }), 5.0);  // 8·10^8 terms by the definition
  EXPECT_EQ(r.outputs[0].load_f64(0 * width), 20);  // the squares that are 0 modulo 1000, twice each thousand
  double total = 0;
  for (double y : values_of(r.outputs[0])) total += y;
  EXPECT_EQ(total, static_cast<double>(tokens * width));
}

// What stands in the else branch must be the identity, the selector must not move with the cell.
TEST(InterpretScatter, IsNotFoundInOtherReductions) {
  Program program;
  MonoidId sum = add_monoid(program, "sum", f32);
  auto found = [&](const std::function<CellId(Build&, CellId index, CellId selector, CellId term)>& operand) {
    Build b("y");
    auto v = b.parallel("v", 4), t = b.reduction("t", 4);
    auto ids = b.operand(i64, {4}), g = b.operand(f32, {4});
    b.result(f32, {4}, {b[v]});
    CellId cell = operand(b, b.index(v), b.read(ids, {b[t]}), b.read(g, {b[t]}));
    return find_scatter(b.reduce(sum, {cell}), program[sum]).has_value();
  };
  auto select = [](Build& b, CellId condition, CellId term, double otherwise) {
    return b.apply(CellOp::select, {condition, term, b.literal(f32, otherwise)});
  };
  EXPECT_TRUE(found([&](Build& b, CellId v, CellId id, CellId g) {
    return select(b, b.apply(CellOp::equal, {id, v}), g, 0);
  }));
  EXPECT_FALSE(found([&](Build& b, CellId v, CellId id, CellId g) {
    return select(b, b.apply(CellOp::equal, {id, v}), g, 1);
  }));
  EXPECT_FALSE(found([&](Build& b, CellId v, CellId id, CellId g) {
    return select(b, b.apply(CellOp::not_equal, {id, v}), g, 0);
  }));
  EXPECT_FALSE(found([&](Build& b, CellId v, CellId id, CellId g) {
    return select(b, b.apply(CellOp::less, {id, v}), g, 0);
  }));
  EXPECT_FALSE(found([&](Build& b, CellId v, CellId id, CellId g) {
    return select(b, b.apply(CellOp::equal, {b.apply(CellOp::add, {id, v}), v}), g, 0);
  }));
  EXPECT_FALSE(found([&](Build& b, CellId v, CellId id, CellId g) {
    return select(b, b.apply(CellOp::equal, {id, b.apply(CellOp::mul, {v, b.literal(i64, 2)})}), g, 0);
  }));
}

// The oracle's ordinary speed, printed; the limit only catches a collapse.
TEST(InterpretSpeed, MatrixProduct) {
  constexpr std::int64_t n = 100;
  Program program;
  Build b("y");
  auto i = b.parallel("i", n), o = b.parallel("o", n), k = b.reduction("k", n);
  b.operand(f32, {n, n});
  b.operand(f32, {n, n});
  b.result(f32, {n, n}, {b[i], b[o]});
  CellId term = b.apply(CellOp::mul, {b.read(0, {b[i], b[k]}), b.read(1, {b[k], b[o]})});
  Operator op = b.reduce(add_monoid(program, "sum", f32), {term});
  Tensor ones = tensor(f32, {n, n}, Values(n * n, 1.0));
  for (bool bounds : {false, true}) {
    InterpretOptions options;
    options.with_bounds = bounds;
    double seconds = seconds_of([&] { evaluate(program, op, {ones, ones}, options); });
    double rate = static_cast<double>(n * n * n) / seconds / 1e6;
    printf("%.1f million cells a second%s\n", rate, bounds ? " with bounds" : "");
    RecordProperty(bounds ? "cells_per_us_with_bounds" : "cells_per_us", static_cast<int>(rate));
    EXPECT_GT(rate, 0.2);
  }
}

}  // namespace
}  // namespace tap::ir::test
