// Run-time failures of the user's program: the same message as the oracle's, whatever the threads and blocks.
#include "ir/graph.h"
#include "tests/backend/compare.h"

namespace tap::backend::test {
namespace {

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const EvaluationError& e) { return e.message; }
  return "no failure";
}

void expect_same_failure(const Operator& op, const std::vector<Tensor>& inputs, const std::string& part,
                         Program program = {}) {
  BuildGraph g{program, {}};
  std::vector<ValueId> operands;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    operands.push_back(g.input("in" + std::to_string(k), inputs[k].type(), inputs[k].shape()));
  GraphId main = g.finish(g.add(op, operands));
  std::string expected = message_of([&] { interpret(program, main, inputs); });
  EXPECT_NE(expected.find(part), std::string::npos) << expected;
  for (std::size_t threads : {1, 2, 8}) {
    ExecuteOptions options;
    options.threads = threads;
    EXPECT_EQ(message_of([&] { execute(program, main, inputs, options); }), expected);
  }
}

// in0[i, j] op in1[i, j], of shape 4 x 9: the second dim is split, and the first failure lies in a late block.
Operator table(CellOp op) {
  Build b("quotient");
  auto i = b.parallel("i", 4), j = b.parallel("j", 9);
  auto x = b.operand(i32, {4, 9}), y = b.operand(i32, {4, 9});
  b.result(i32, {4, 9}, {b[i], b[j]});
  return b.map({b.apply(op, {b.read(x, {b[i], b[j]}), b.read(y, {b[i], b[j]})})});
}
Tensor ones_but(std::int64_t value) {
  Tensor t(i32, {4, 9});
  for (std::int64_t c = 0; c < 36; ++c) t.store_i64(c, c == 9 * 1 + 8 || c == 9 * 2 + 0 ? value : 1);
  return t;
}

TEST(Failure, DivisionByZeroNamesTheFirstPoint) {
  expect_same_failure(table(CellOp::div), {ones_but(5), ones_but(0)}, "division by zero in `quotient` at i=1, j=8");
}
TEST(Failure, RemainderByZero) { expect_same_failure(table(CellOp::mod), {ones_but(5), ones_but(0)}, "at i=1, j=8"); }
TEST(Failure, NegativeShift) { expect_same_failure(table(CellOp::shl), {ones_but(5), ones_but(-3)}, "-3"); }
TEST(Failure, IndexOutOfRange) {
  Build b("lookup");
  auto n = b.parallel("n", 6);
  auto table = b.operand(f32, {5}), ids = b.operand(i64, {6});
  b.result(f32, {6}, {b[n]});
  expect_same_failure(b.map({b.gather(table, b.read(ids, {b[n]}), {})}),
                      {whole_numbers(f32, {5}), tensor(i64, {6}, {0, 1, 4, 3, 5, -1})}, "index 5 is out of range");
}
TEST(Failure, ReductionNamesTheReducedIndexToo) {
  Program program;
  Build b("total");
  auto i = b.parallel("i", 3), k = b.reduction("k", 4);
  auto x = b.operand(i64, {3, 4});
  b.result(i64, {3}, {b[i]});
  auto op =
      b.reduce(add_monoid(program, "sum", i64), {b.apply(CellOp::div, {b.literal(i64, 6), b.read(x, {b[i], b[k]})})});
  expect_same_failure(op, {tensor(i64, {3, 4}, {1, 1, 1, 1, 2, 2, 0, 2, 0, 3, 3, 3})}, "at i=1, k=2", program);
}

}  // namespace
}  // namespace tap::backend::test
