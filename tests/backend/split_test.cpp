// Split programs run natively and give what the whole gives: reductions split into partials, in order.
#include "ir/graph.h"
#include "tests/backend/compare.h"

namespace tap::backend::test {
namespace {

// The value of an operation is called as the operator.
PlannedSplit planned_split(const Operator& op, std::uint32_t dim, Blocks blocks,
                           Placement placement = Placement::threads) {
  return {op.name, op.dims[dim].name, std::move(blocks), placement};
}

void expect_split_is_whole(Program program, const Operator& op, const std::vector<Tensor>& inputs,
                           const std::vector<PlannedSplit>& splits) {
  BuildGraph g{program, {}};
  std::vector<ValueId> operands;
  for (std::size_t k = 0; k < inputs.size(); ++k) operands.push_back(g.input("x", inputs[k].type(), inputs[k].shape()));
  std::vector<ValueId> results = g.add(op, operands);
  for (std::size_t k = 1; k < results.size(); ++k) g.graph.values[results[k].index()].name += std::to_string(k);
  program.main = g.finish(results);
  Plan plan{{splits.begin(), splits.end()}};
  auto expected = interpret(program, program.main, inputs).outputs;
  for (std::size_t threads : {1, 2, 8}) {
    ExecuteOptions options;
    options.threads = threads;
    expect_same_bits(executable(program, plan, options).run(inputs), expected, std::to_string(threads) + " threads");
  }
}

TEST(SplitRun, SumOverUnevenAndEmptyBlocks) {
  Program program;
  Operator op = matrix_product(program, 6, 4, 11);
  expect_split_is_whole(
      program, op, {whole_numbers(f32, {6, 11}), whole_numbers(f32, {11, 4}, 2)},
      {planned_split(op, 0, {4}), planned_split(op, 1, {2, {0, 1, 4}}), planned_split(op, 2, {3, {0, 7, 7, 11}})});
}

TEST(SplitRun, NonCommutativeMonoidKeepsTheOrder) {
  Program program;
  Build b("h");
  auto r = b.parallel("r", 3), k = b.reduction("k", 7);
  auto x = b.operand(i64, {3, 7}), y = b.operand(i64, {3, 7});
  b.result(i64, {3}, {b[r]});
  b.result(i64, {3}, {b[r]});
  Operator op =
      b.reduce(add_monoid(program, affine_composition(i64)), {b.read(x, {b[r], b[k]}), b.read(y, {b[r], b[k]})});
  expect_split_is_whole(program, op, {whole_numbers(i64, {3, 7}), whole_numbers(i64, {3, 7}, 5)},
                        {planned_split(op, k, {3, {0, 2, 3, 7}})});
}

TEST(SplitRun, ScansSplitOverTheirReductionDim) {
  for (bool split_reduction : {false, true}) {
    for (bool suffix : {false, true}) {
      Program program;
      Build b("h");  // a linear recurrence as a scan
      auto i = b.parallel("i", 9), k = b.reduction("k", 9);
      auto x = b.operand(i64, {9}), y = b.operand(i64, {9});
      b.result(i64, {9}, {b[i]});
      b.result(i64, {9}, {b[i]});
      b.require_at_least_zero(suffix ? b[k] - b[i] : b[i] - b[k]);
      Operator op = b.reduce(add_monoid(program, affine_composition(i64)), {b.read(x, {b[k]}), b.read(y, {b[k]})});
      expect_split_is_whole(program, op, {whole_numbers(i64, {9}), whole_numbers(i64, {9}, 5)},
                            {planned_split(op, split_reduction ? k : i, {4})});
    }
  }
}

TEST(SplitRun, ScatterSplitOverItsReductionDim) {
  Program program;
  Build b("g");
  auto v = b.parallel("v", 5), t = b.reduction("t", 9);
  auto ids = b.operand(i64, {9}), x = b.operand(f32, {9});
  b.result(f32, {5}, {b[v]});
  auto hit = b.apply(CellOp::equal, {b.read(ids, {b[t]}), b.index(v)});
  auto term = b.apply(CellOp::select, {hit, b.read(x, {b[t]}), b.literal(f32, 0)});
  Operator op = b.reduce(add_monoid(program, "sum", f32), {term});
  std::vector<Tensor> inputs{tensor(i64, {9}, {0, 4, 4, -2, 7, 1, 1, 1, 3}), whole_numbers(f32, {9})};
  expect_split_is_whole(program, op, inputs, {planned_split(op, t, {2})});
  expect_split_is_whole(program, op, inputs, {planned_split(op, v, {3})});
  expect_split_is_whole(program, op, inputs, {planned_split(op, t, {2}, Placement::sequential)});
}

// Work per element must not grow with the length: 200,000 elements would be 2e10 steps if it did.
TEST(SplitRun, ScansAndScattersAreLinear) {
  constexpr std::int64_t n = 200000;
  Program program;
  Build s("s");
  auto i = s.parallel("i", n), k = s.reduction("k", n);
  auto x = s.operand(i64, {n});
  s.result(i64, {n}, {s[i]});
  s.require_at_least_zero(s[i] - s[k]);
  MonoidId sum = add_monoid(program, "sum", i64);
  Operator scan = s.reduce(sum, {s.read(x, {s[k]})});
  Build h("h");
  auto v = h.parallel("v", n), t = h.reduction("t", n);
  auto ids = h.operand(i64, {n});
  h.result(i64, {n}, {h[v]});
  auto hit = h.apply(CellOp::equal, {h.read(ids, {h[t]}), h.index(v)});
  Operator count = h.reduce(sum, {h.apply(CellOp::select, {hit, h.literal(i64, 1), h.literal(i64, 0)})});
  // The same, as it may be written, too: of narrow numbers, mirrored, behind a condition.
  Build w("w");
  auto u = w.parallel("u", n), r = w.reduction("r", n);
  auto ids_mirrored = w.operand(i64, {n});
  w.result(i64, {n}, {w[u]});
  CellId id = w.read(ids_mirrored, {w[r]}), small = w.apply(CellOp::less, {id, w.literal(i64, 7)});
  CellId reflected = w.cast(w.apply(CellOp::sub, {w.literal(i64, 5), w.index(u)}), i32);
  CellId hit_mirrored = w.apply(CellOp::logical_and, {small, w.apply(CellOp::equal, {reflected, w.cast(id, i32)})});
  Operator mirrored = w.reduce(sum, {w.apply(CellOp::select, {hit_mirrored, w.literal(i64, 1), w.literal(i64, 0)})});
  BuildGraph g{program, {}};
  auto in = g.input("x", i64, {n});
  auto total = g.add(scan, {in})[0];
  auto counts = g.add(count, {in})[0];
  auto others = g.add(mirrored, {in})[0];
  program.main = g.finish({total, counts, others});
  Tensor ones(i64, {n});
  for (std::int64_t c = 0; c < n; ++c) ones.store_i64(c, 1);
  auto results = execute(program, program.main, {ones});
  EXPECT_EQ(results[0].load_i64(n - 1), n);
  EXPECT_EQ(results[1].load_i64(1), n);
  EXPECT_EQ(results[2].load_i64(4), n);
}

}  // namespace
}  // namespace tap::backend::test
