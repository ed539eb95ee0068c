// What fails at run time and how it is told; and that what is not taken can neither fail nor read.
#include <gtest/gtest.h>

#include "build.h"
#include "support/check.h"

namespace tap::ir::test {
namespace {

using Values = std::vector<double>;

std::string failure_of(const Operator& op, const std::vector<Tensor>& inputs, const InterpretOptions& options = {}) {
  try {
    evaluate({}, op, inputs, options);
  } catch (const EvaluationError& error) { return error.message; }
  return "nothing failed";
}

// y[i, j] = a[i, j] / b[j]
Operator quotient(bool guarded) {
  Build b("y");
  auto i = b.parallel("i", 4), j = b.parallel("j", 2);
  b.operand(i32, {4, 2});
  b.operand(i32, {2});
  b.result(i32, {4, 2}, {b[i], b[j]});
  CellId divisor = b.read(1, {b[j]}), zero = b.literal(i32, 0);
  CellId q = b.apply(CellOp::div, {b.read(0, {b[i], b[j]}), divisor});
  if (guarded) q = b.apply(CellOp::select, {b.apply(CellOp::equal, {divisor, zero}), zero, q});
  return b.map({q});
}

TEST(InterpretFailure, DivisionByZeroNamesTheIndex) {
  Tensor a = tensor(i32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(failure_of(quotient(false), {a, tensor(i32, {2}, {2, 0})}), "division by zero in `y` at i=0, j=1");
  EXPECT_EQ(failure_of(quotient(false), {a, tensor(i32, {2}, {2, 1})}), "nothing failed");
}

TEST(InterpretFailure, BranchesThatAreNotTakenCannotFail) {
  Tensor a = tensor(i32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto r = evaluate({}, quotient(true), {a, tensor(i32, {2}, {2, 0})});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{0, 0, 1, 0, 2, 0, 3, 0}));
}

TEST(InterpretFailure, AndAndOrAreLazy) {
  // c[i] = d[i] != 0 and 6 / d[i] > 2;   e[i] = d[i] == 0 or 6 / d[i] > 2
  Build b("c");
  auto i = b.parallel("i", 3);
  b.operand(i32, {3});
  b.result(boolean, {3}, {b[i]});
  b.result(boolean, {3}, {b[i]});
  CellId d = b.read(0, {b[i]}), zero = b.literal(i32, 0);
  CellId large = b.apply(CellOp::less, {b.literal(i32, 2), b.apply(CellOp::div, {b.literal(i32, 6), d})});
  CellId both = b.apply(CellOp::logical_and, {b.apply(CellOp::not_equal, {d, zero}), large});
  CellId one = b.apply(CellOp::logical_or, {b.apply(CellOp::equal, {d, zero}), large});
  auto r = evaluate({}, b.map({both, one}), {tensor(i32, {3}, {0, 2, 4})});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{0, 1, 0}));
  EXPECT_EQ(values_of(r.outputs[1]), (Values{1, 1, 0}));
}

// A node that two branches share is computed where it is needed, once, and only there.
TEST(InterpretFailure, SharedNodesOfBranches) {
  Build b("y");
  auto i = b.parallel("i", 3);
  b.operand(i32, {3});
  b.result(i32, {3}, {b[i]});
  CellId d = b.read(0, {b[i]}), zero = b.literal(i32, 0);
  CellId shared = b.apply(CellOp::div, {b.literal(i32, 12), d});
  CellId inner = b.apply(CellOp::select, {b.apply(CellOp::less, {d, zero}), b.apply(CellOp::neg, {shared}), shared});
  CellId outer =
      b.apply(CellOp::select, {b.apply(CellOp::equal, {d, zero}), zero, b.apply(CellOp::add, {inner, shared})});
  auto r = evaluate({}, b.map({outer}), {tensor(i32, {3}, {0, -3, 4})});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{0, 0, 6}));
}

// Nested conditions that use each other in both branches: linear work, not exponential.
TEST(InterpretFailure, ChainsOfSharedBranchesAreLinear) {
  Build b("y");
  b.operand(i64, {});
  b.result(i64, {}, {});
  CellId x = b.read(0, {}), one = b.literal(i64, 1), two = b.literal(i64, 2);
  for (int step = 0; step < 200; ++step) {
    CellId even = b.apply(CellOp::equal, {b.apply(CellOp::mod, {x, two}), b.literal(i64, 0)});
    CellId small = b.apply(CellOp::less, {x, b.literal(i64, 3)});
    CellId odd = b.apply(CellOp::select,
                         {small, one, b.apply(CellOp::add, {b.apply(CellOp::mul, {x, b.literal(i64, 3)}), one})});
    x = b.apply(CellOp::select, {even, b.apply(CellOp::div, {x, two}), odd});
  }
  EXPECT_EQ(evaluate({}, b.map({x}), {tensor(i64, {}, {27})}).outputs[0].load_i64(0), 1);
}

Operator gather(bool with_fill) {
  Build b("row");
  auto n = b.parallel("n", 3), d = b.parallel("d", 2);
  auto ids = b.operand(i32, {3}), table = b.operand(f32, {5, 2});
  b.result(f32, {3, 2}, {b[n], b[d]});
  CellId id = b.read(ids, {b[n]});
  std::optional<CellId> fill;
  if (with_fill) fill = b.literal(f32, -1);
  return b.map({b.gather(table, id, {b[d]}, fill)});
}

TEST(InterpretFailure, GatherOutOfRange) {
  Tensor table = tensor(f32, {5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto r = evaluate({}, gather(false), {tensor(i32, {3}, {4, 0, 2}), table});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{8, 9, 0, 1, 4, 5}));
  EXPECT_EQ(failure_of(gather(false), {tensor(i32, {3}, {4, 7, 2}), table}),
            "index 7 is out of range for axis 0 of `in1`, which has extent 5, in `row` at n=1, d=0");
  EXPECT_EQ(failure_of(gather(false), {tensor(i32, {3}, {-1, 7, 2}), table}),
            "index -1 is out of range for axis 0 of `in1`, which has extent 5, in `row` at n=0, d=0");
  r = evaluate({}, gather(true), {tensor(i32, {3}, {-1, 7, 2}), table});
  EXPECT_EQ(values_of(r.outputs[0]), (Values{-1, -1, -1, -1, 4, 5}));
}

// A fill may itself read; it is evaluated only where it is needed.
TEST(InterpretFailure, FillsAreLazy) {
  Build b("y");
  auto i = b.parallel("i", 3);
  b.operand(i32, {3});
  b.operand(i32, {});
  b.result(i32, {3}, {b[i]});
  CellId fill = b.apply(CellOp::div, {b.literal(i32, 12), b.read(1, {})});
  Operator inside = b.map({b.read(0, {b[i]}, fill)});
  EXPECT_EQ(failure_of(inside, {tensor(i32, {3}, {1, 2, 3}), tensor(i32, {}, {0})}), "nothing failed");
  Build c("y");
  i = c.parallel("i", 3);
  c.operand(i32, {3});
  c.operand(i32, {});
  c.result(i32, {3}, {c[i]});
  fill = c.apply(CellOp::div, {c.literal(i32, 12), c.read(1, {})});
  Operator outside = c.map({c.read(0, {c[i] - 1}, fill)});
  EXPECT_EQ(failure_of(outside, {tensor(i32, {3}, {1, 2, 3}), tensor(i32, {}, {0})}), "division by zero in `y` at i=0");
  EXPECT_EQ(values_of(evaluate({}, outside, {tensor(i32, {3}, {1, 2, 3}), tensor(i32, {}, {4})}).outputs[0]),
            (Values{3, 1, 2}));
}

TEST(InterpretFailure, OutOfBoundsReadIsAnInternalError) {
  Build b("y");
  auto i = b.parallel("i", 3);
  b.operand(f32, {3});
  b.result(f32, {3}, {b[i]});
  EXPECT_THROW(evaluate({}, b.map({b.read(0, {b[i] + 1})}), {tensor(f32, {3}, {1, 2, 3})}), InternalError);
}

TEST(InterpretFailure, FailuresWithoutDims) {
  Build b("s");
  b.operand(i64, {});
  b.result(i64, {}, {});
  Operator op = b.map({b.apply(CellOp::shl, {b.literal(i64, 1), b.read(0, {})})});
  EXPECT_EQ(failure_of(op, {tensor(i64, {}, {-2})}), "shift by the negative number -2 in `s`");
}

TEST(InterpretFailure, KernelsNeedAnImplementation) {
  Build b("smooth");
  auto i = b.parallel("i", 3);
  auto x = b.operand(f32, {3});
  b.result(f32, {3}, {b[i]});
  b.read(x, {b[i]});
  b.op.body = KernelBody{"smooth_rows", {}, {}};
  Tensor in = tensor(f32, {3}, {1, 2, 3});
  EXPECT_EQ(failure_of(b.op, {in}), "the outside kernel `smooth_rows` of `smooth` is not available");
  InterpretOptions options;
  options.with_bounds = true;
  options.kernel = [](const Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
    if (op.kernel()->symbol != "smooth_rows") return false;
    for (std::int64_t k = 0; k < 3; ++k) results[0].store_f64(k, 2 * operands[0].load_f64(k));
    return true;
  };
  auto r = evaluate({}, b.op, {in}, options);
  EXPECT_EQ(values_of(r.outputs[0]), (Values{2, 4, 6}));
  EXPECT_EQ(values_of(r.bounds[0]), (Values{0, 0, 0}));
}

}  // namespace
}  // namespace tap::ir::test
