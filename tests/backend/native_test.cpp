// Every form of operator, native against the oracle.
#include <limits>

#include "backend/tiles/patterns.h"
#include "ir/graph.h"
#include "tests/backend/compare.h"

namespace tap::backend::test {
namespace {

TEST(Native, MapOfTwoOperands) {
  Build b("y");
  auto i = b.parallel("i", 7), j = b.parallel("j", 13);
  auto x = b.operand(f32, {7, 13}), v = b.operand(f32, {13});
  b.result(f32, {7, 13}, {b[i], b[j]});
  auto sum = b.apply(CellOp::add, {b.read(x, {b[i], b[j]}), b.read(v, {b[j]})});
  expect_native_is_oracle({}, b.map({b.apply(CellOp::max, {sum, b.literal(f32, 0)})}),
                          {whole_numbers(f32, {7, 13}), whole_numbers(f32, {13})});
}

TEST(Native, Scalars) {
  Build b("s");
  auto x = b.operand(f64, {});
  b.result(f64, {}, {});
  expect_native_is_oracle({}, b.map({b.apply(CellOp::neg, {b.read(x, {})})}), {tensor(f64, {}, {3})});
}

TEST(Native, MatrixProduct) {
  Program program;
  Operator op = matrix_product(program, 5, 9, 17);
  expect_native_is_oracle(program, op, {whole_numbers(f32, {5, 17}), whole_numbers(f32, {17, 9}, 3)});
}

// Larger than half of a core's cache: both operands are packed, the reduction is done in blocks, and nothing divides.
TEST(Native, PackedProduct) {
  Program program;
  Build b("c");
  const std::int64_t m = 170, n = 171, depth = 803;
  auto i = b.parallel("i", m), j = b.parallel("j", n), k = b.reduction("k", depth);
  auto x = b.operand(f32, {m, depth}), y = b.operand(f32, {depth, n});
  b.result(f32, {m, n}, {b[i], b[j]});
  auto product = b.apply(CellOp::mul, {b.read(x, {b[i], b[k]}), b.read(y, {b[k], b[j]})});
  auto op = b.reduce(add_monoid(program, "sum", f32), {product});
  EXPECT_NE(print(lower(program, op)).find("local"), std::string::npos);
  expect_native_is_oracle(program, op, {whole_numbers(f32, {m, depth}), whole_numbers(f32, {depth, n}, 3)});
}

TEST(Native, EmptyDomainsAndReductions) {
  for (Shape shape : {Shape{0, 4}, Shape{3, 0}, Shape{0, 0}}) {
    Program program;
    Build b("m");
    auto i = b.parallel("i", shape[0]), k = b.reduction("k", shape[1]);
    auto x = b.operand(f32, shape);
    b.result(f32, {shape[0]}, {b[i]});
    auto op = b.reduce(add_monoid(program, "max", f32), {b.read(x, {b[i], b[k]})});
    expect_native_is_oracle(program, op, {Tensor(f32, shape)});
  }
}

TEST(Native, WindowWithFillAndReverse) {
  Program program;
  Build b("y");
  auto i = b.parallel("i", 10), u = b.reduction("u", 3);
  auto x = b.operand(i32, {10}), z = b.operand(i32, {10});
  b.result(i32, {10}, {b[i]});
  auto window = b.read(x, {b[i] + b[u] - 1}, b.literal(i32, -7));
  auto reversed = b.read(z, {at_constant(9) - b[i]});
  auto op = b.reduce(add_monoid(program, "sum", i32), {b.apply(CellOp::mul, {window, reversed})});
  expect_native_is_oracle(program, op, {whole_numbers(i32, {10}), whole_numbers(i32, {10}, 2)});
}

TEST(Native, GuardedReadIsNotSpeculated) {
  Build b("y");
  auto i = b.parallel("i", 6);
  auto x = b.operand(f32, {6});
  b.result(f32, {6}, {b[i]});
  auto inside = b.apply(CellOp::less, {b.literal(i64, 0), b.index(i)});
  auto value = b.apply(CellOp::select, {inside, b.read(x, {b[i] - 1}), b.literal(f32, 100)});
  expect_native_is_oracle({}, b.map({value}), {whole_numbers(f32, {6})});
}

TEST(Native, LazyAndOrGuardDivision) {
  Build b("y");
  auto i = b.parallel("i", 11);
  auto x = b.operand(i32, {11});
  b.result(boolean, {11}, {b[i]});
  b.result(boolean, {11}, {b[i]});
  auto v = b.read(x, {b[i]});
  auto zero = b.apply(CellOp::equal, {v, b.literal(i32, 0)});
  auto positive = b.apply(CellOp::less, {b.literal(i32, 1), b.apply(CellOp::div, {b.literal(i32, 6), v})});
  auto both = b.apply(CellOp::logical_and, {b.apply(CellOp::not_equal, {v, b.literal(i32, 0)}), positive});
  auto either = b.apply(CellOp::logical_or, {zero, positive});
  expect_native_is_oracle({}, b.map({both, either}), {whole_numbers(i32, {11})});
}

TEST(Native, GatherWithFill) {
  Build b("y");
  auto n = b.parallel("n", 8), d = b.parallel("d", 3);
  auto table = b.operand(f32, {5, 3}), ids = b.operand(i64, {8});
  b.result(f32, {8, 3}, {b[n], b[d]});
  auto id = b.read(ids, {b[n]});
  expect_native_is_oracle({}, b.map({b.gather(table, id, {b[d]}, b.literal(f32, -1))}),
                          {whole_numbers(f32, {5, 3}), tensor(i64, {8}, {4, 0, -1, 5, 2, 2, 1000000, 3})});
}

TEST(Native, PrefixAndSuffixScans) {
  for (bool suffix : {false, true}) {
    Program program;
    Build b("y");
    auto r = b.parallel("r", 3), i = b.parallel("i", 9), k = b.reduction("k", 9);
    auto x = b.operand(i64, {3, 9});
    b.result(i64, {3, 9}, {b[r], b[i]});
    b.require_at_least_zero(suffix ? b[k] - b[i] : b[i] - b[k] - 1);
    auto op = b.reduce(add_monoid(program, "sum", i64), {b.read(x, {b[r], b[k]})});
    expect_native_is_oracle(program, op, {whole_numbers(i64, {3, 9})});
  }
}

TEST(Native, ConstraintsThatAreNotAScan) {
  Program program;
  Build b("y");  // a band: |i - k| <= 2, and 2k <= i + 9
  auto i = b.parallel("i", 12), k = b.reduction("k", 12);
  auto x = b.operand(i64, {12});
  b.result(i64, {12}, {b[i]});
  b.require_at_least_zero(b[i] - b[k] + 2);
  b.require_at_least_zero(b[k] - b[i] + 2);
  b.require_at_least_zero(b[i] - 2 * b[k] + 9);
  auto op = b.reduce(add_monoid(program, "sum", i64), {b.read(x, {b[k]})});
  expect_native_is_oracle(program, op, {whole_numbers(i64, {12})});
}

TEST(Native, ScatterIsOnePass) {
  Program program;
  Build b("g");
  auto v = b.parallel("v", 5), d = b.parallel("d", 3), t = b.reduction("t", 9);
  auto ids = b.operand(i64, {9}), x = b.operand(f32, {9, 3});
  b.result(f32, {5, 3}, {b[v], b[d]});
  auto hit = b.apply(CellOp::equal, {b.read(ids, {b[t]}), b.index(v)});
  auto term = b.apply(CellOp::select, {hit, b.read(x, {b[t], b[d]}), b.literal(f32, 0)});
  auto op = b.reduce(add_monoid(program, "sum", f32), {term});
  expect_native_is_oracle(program, op, {tensor(i64, {9}, {0, 4, 4, -2, 7, 1, 1, 1, 3}), whole_numbers(f32, {9, 3})});
}

// What is in the data is no reason to overflow: places at the ends of i64, shifted and mirrored.
TEST(Native, ScatterWithExtremeIndices) {
  Program program;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  for (bool mirrored : {false, true}) {
    Build b("g");
    auto v = b.parallel("v", 5), t = b.reduction("t", 9);
    auto ids = b.operand(i64, {9}), x = b.operand(f32, {9});
    b.result(f32, {5}, {b[v]});
    auto three = b.literal(i64, 3), target = b.apply(mirrored ? CellOp::sub : CellOp::add, {three, b.index(v)});
    auto other = b.apply(CellOp::not_equal, {target, b.read(ids, {b[t]})});
    auto term = b.apply(CellOp::select, {other, b.literal(f32, 0), b.read(x, {b[t]})});
    auto op = b.reduce(add_monoid(program, "sum", f32), {term});
    ASSERT_TRUE(native_scatter(program, op));
    Tensor far(i64, {9});
    const std::int64_t far_ids[] = {least, least + 1, least + 3, -1, 3, 4, most, most - 1, most - 3};
    for (std::int64_t c = 0; c < 9; ++c) far.store_i64(c, far_ids[c]);
    expect_native_is_oracle(program, op, {far, whole_numbers(f32, {9})});
  }
}

TEST(Native, TupleMonoidWithAnInvariantComponent) {
  Program program;
  Build b("top");
  auto i = b.parallel("i", 6), c = b.parallel("c", 4), k = b.reduction("k", 10);
  auto x = b.operand(f32, {6, 10});
  b.result(f32, {6}, {b[i]}, {c});
  b.result(i64, {6, 4}, {b[i], b[c]});
  auto op = b.reduce(add_monoid(program, argmax(f32)), {b.read(x, {b[i], b[k]}), b.index(k)});
  expect_native_is_oracle(program, op, {whole_numbers(f32, {6, 10})});
}

TEST(Native, SeveralWritersOfAValue) {
  Program program;
  BuildGraph g{program, {}};
  auto a = g.input("a", f32, {3}), z = g.input("z", f32, {4});
  auto y = g.value("y", {f32, {7}});
  for (int part = 0; part < 2; ++part) {
    Build b("y");
    std::int64_t n = part == 0 ? 3 : 4;
    auto i = b.parallel("i", n);
    auto x = b.operand(f32, {n});
    b.result(f32, {7}, {b[i] + (part == 0 ? 0 : 3)});
    g.write(b.map({b.read(x, {b[i]})}), {part == 0 ? a : z}, {y});
  }
  GraphId main = g.finish({y, a, y});
  expect_native_is_oracle(program, main, {tensor(f32, {3}, {1, 2, 3}), tensor(f32, {4}, {4, 5, 6, 7})});
}

TEST(Native, IterateWithCounterAndCapture) {
  Program program;
  BuildGraph body{program, {}};
  auto state = body.input("v", i64, {5}), other = body.input("w", i64, {5});
  Build b("next");  // v[i] + t * w[i], and the other state swapped in
  auto i = b.parallel("i", 5), t = b.counter("t", {2, 6});
  auto v = b.operand(i64, {5}), w = b.operand(i64, {5});
  b.result(i64, {5}, {b[i]});
  auto step = b.apply(CellOp::mul, {b.index(t), b.read(w, {b[i]})});
  auto next = body.add(b.map({b.apply(CellOp::add, {b.read(v, {b[i]}), step})}), {state, other});
  GraphId inner = body.finish({next[0], state});

  BuildGraph g{program, {}};
  auto x = g.input("x", i64, {5}), y = g.input("y", i64, {5});
  Operator iterate;
  iterate.name = "iterate";
  iterate.operands = iterate.results = {{i64, {5}}, {i64, {5}}};
  iterate.body = RegionBody{RegionKind::iterate, inner, {2, 6}};
  GraphId main = g.finish(g.add(iterate, {x, y}));
  expect_native_is_oracle(program, main, {whole_numbers(i64, {5}), whole_numbers(i64, {5}, 4)});
}

void twice(const std::int64_t*, const std::int64_t*, const OutsideRegion* regions) {
  for (std::int64_t c = 0; c < regions[0].extents[0]; ++c)
    static_cast<float*>(regions[1].data)[c] = 2 * static_cast<const float*>(regions[0].data)[c];
}

TEST(Native, OutsideKernel) {
  Program program;
  BuildGraph g{program, {}};
  auto x = g.input("x", f32, {4});
  Build b("twice");
  auto i = b.parallel("i", 4);
  b.read(b.operand(f32, {4}), {b[i]});
  b.result(f32, {4}, {b[i]});
  Operator op = b.op;
  op.body = KernelBody{"twice", {}, {}};
  GraphId main = g.finish(g.add(op, {x}));
  InterpretOptions options;
  EXPECT_THROW(execute(program, main, {whole_numbers(f32, {4})}), EvaluationError);
  options.kernel = [](const Operator& o, const std::vector<Tensor>& in, std::vector<Tensor>& out) {
    for (std::int64_t c = 0; c < in[0].size(); ++c) out[0].store_f64(c, 2 * in[0].load_f64(c));
    return o.kernel()->symbol == "twice";
  };
  expect_native_is_oracle(program, main, {whole_numbers(f32, {4})}, options, twice);
}

}  // namespace
}  // namespace tap::backend::test
