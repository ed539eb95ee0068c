// Which transfers are made: a transfer has the dims that decide what it moves, whatever else its readers go over.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "ir/block_program.h"
#include "passes/splits/apply_splits.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/check/certified.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::passes::test {
namespace {

using namespace tap::ir;

// Of transfers, which values they move to where.
std::vector<std::string> transfers(const std::string& text, const std::string& lines) {
  Program program = test::lowered(text);
  SplitResult splits = apply_splits(program, std::get<Plan>(parse_plan("plan 2\n" + lines)));
  for (const PlanProblem& p : splits.problems) ADD_FAILURE() << p.message;
  const RealiseResult realised = realise(splits.program);
  const Program& made = realised.program;
  check::Verdict verdict;
  check::check_step(splits.program, made, realised.step, "realise", verdict);
  EXPECT_EQ(check::test::first_refusal(verdict), "") << text << lines;
  EXPECT_EQ(check::test::refusal_of(expand(made)), "");
  std::vector<std::string> found;
  const Graph& graph = made[made.main];
  for (const Operation& operation : graph.operations) {
    const Operator& op = made[operation.op];
    if (!op.transfer()) continue;
    std::string dims;
    for (const IndexDim& dim : op.dims) dims += " " + dim.name;
    found.push_back(graph[operation.results[0]].name + dims);
  }
  return found;
}

TEST(Transfers, OperationsShareWhatTheyReadAlike) {
  const std::string head =
      "mesh m = [x: 2, y: 2]\n"
      "program p(X: f32[8, 8], W: f32[8, 4], V: f32[8, 6]) -> (P: f32[8, 4], Q: f32[8, 6], r: f32[8]) {\n"
      "  A[i, k] = X[i, k] * 2\n"
      "  P[i, o] = sum[k] A[i, k] * W[k, o]\n"
      "  Q[i, o] = sum[k] A[i, k] * V[k, o]\n"
      "  r[i] = sum[k] A[i, k] * A[i, k]\n}\n";
  const std::string parts = "split A dim i into 2 over m.x\nsplit A dim k into 2 over m.y\n";
  // The same rows on the same devices, whatever else is divided.
  EXPECT_EQ(transfers(head, parts + "split P dim i into 2 over m.x\nsplit P dim o into 2 over m.y\n"
                                    "split Q dim i into 2 over m.x\nsplit r dim i into 2 over m.x\n"),
            std::vector<std::string>{"A.moved i k i_block"});
  // Other rows are another transfer.
  EXPECT_EQ(
      transfers(
          head,
          parts + "split P dim i into 2 over m.x\nsplit Q dim i into 2 over m.y\nsplit r dim i into 2 over m.x\n"),
      (std::vector<std::string>{"A.moved i k i_block", "A.moved2 i k i_block"}));
  // To all devices, with the reader's blocks.
  EXPECT_EQ(transfers(head, parts + "split P dim o into 2 over m.x\nsplit Q dim o into 2 over m.y\n"
                                    "split r dim i into 2 over m.x\n"),
            (std::vector<std::string>{"A.moved i o k o_block", "A.moved2 i o k o_block", "A.moved3 i k i_block"}));
}

// Then the reader's blocks decide, too.
TEST(Transfers, DevicesThatNeedNothingReceiveNothing) {
  auto text = [](int columns, int devices) {
    return fmt::format(
        "mesh m = [x: 2, y: {0}]\n"
        "program p(X: f32[8, 8], W: f32[8, {1}]) -> (Y: f32[8, {1}]) {{\n"
        "  A[i, k] = X[i, k] * 2\n  Y[i, o] = sum[k] A[i, k] * W[k, o]\n}}\n",
        devices, columns);
  };
  const std::vector<std::string> rows{"A.moved i k i_block"}, blocks{"A.moved i o k i_block o_block"};
  const std::string parts = "split A dim k into 2 over m.y\nsplit Y dim i into 2 over m.x\n";
  EXPECT_EQ(transfers(text(4, 2), parts + "split Y dim o into [0, 1, 4] over m.y\n"), rows);
  EXPECT_EQ(transfers(text(4, 2), parts + "split Y dim o into [0, 4, 4] over m.y\n"), blocks);
  // 2, 2, 2, 2 and 1 columns.
  EXPECT_EQ(transfers(text(9, 8),
                      "split A dim k into 8 over m.y\nsplit Y dim i into 2 over m.x\nsplit Y dim o into 8 over m.y\n"),
            blocks);
}

// Its local part and its totals have one transfer: each reads the block of the reduced dim with its number.
TEST(Transfers, AScanInBlocksReadsItsOperandOnce) {
  const std::string head =
      "mesh m = [x: 4, y: 2]\nprogram p(X: i64[8, {0}], W: i64[8, {0}]) -> (Y: i64[8, {0}]) {{\n"
      "  A[r, i] = X[r, i] * 2\n  B[r, i] = W[r, i] * 3\n  Y[r, i] = {1} for r in 0..8, i in 0..{0}\n}}\n";
  const std::string lines =
      "split A dim r into 4 over m.x\nsplit B dim r into 4 over m.x\nsplit Y dim i into 4 over m.x\n";
  EXPECT_EQ(transfers(fmt::format(fmt::runtime(head), 64, "sum[k in 0..i + 1] A[r, k]"), lines),
            (std::vector<std::string>{"A.moved r k i_block", "Y.totals.moved k_block_before r k_block"}));
  for (const std::string scan : {"sum[k in 0..i + 1] A[r, k]", "sum[k in 0..i] A[r, k]", "max[k in i..{0}] A[r, k]",
                                 "sum[k in 0..i - 3] A[r, k]", "sum[k in 0..i + 1] A[r, k] * W[r, k]",
                                 "sum[k in 0..i + 1] A[r, k] * A[r, k - 1 else 0]"})
    for (const int n : {64, 10, 9})
      for (const std::string more : {"", "split Y dim r into 2 over m.y\n"}) {
        const std::string text = fmt::format(fmt::runtime(head), n, fmt::format(fmt::runtime(scan), n));
        int of_a = 0;
        for (const std::string& transfer : transfers(text, lines + more)) of_a += transfer.starts_with("A.");
        EXPECT_EQ(of_a, 1) << text << lines << more;
      }
  const std::string both = fmt::format(fmt::runtime(head), 64, "sum[k in 0..i + 1] A[r, k] * B[r, k]");
  EXPECT_EQ(transfers(both, lines).size(), 3u) << both;
}

// Its dims are found again among many that are alike.
TEST(Transfers, ManyDimsOfOneSize) {
  auto sum_over = [](const std::string& at, int dims) {
    std::string reduced, place = at;
    for (int k = 0; k < dims; ++k) {
      reduced += fmt::format("{}z{} in 0..2", k == 0 ? "" : ", ", k);
      place += at.empty() ? fmt::format("{}{} * z{}", k == 0 ? "" : " + ", 1 << k, k) : fmt::format(" + z{}", k);
    }
    return fmt::format(
        "mesh m = [x: 2, y: 2]\nprogram p(X: f32[2048], W: f32[4]) -> (Y: f32[4, 4]) {{\n"
        "  A[i] = X[i] * 2\n  Y[q, o] = sum[{}] A[{} + q] * W[o]\n}}\n",
        reduced, place);
  };
  for (const std::string at : {"", "o"}) {
    const std::string text = sum_over(at, 10);
    const std::string lines =
        "split A dim i into 2 over m.x\nsplit Y dim q into 2 over m.x\nsplit Y dim o into 2 over m.y\n";
    EXPECT_EQ(transfers(text, lines).size(), 1u) << text;
  }
}

}  // namespace
}  // namespace tap::passes::test
