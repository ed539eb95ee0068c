// Which transfers are made: a transfer has the dims that decide what it moves, whatever else its readers go over.
#include <gtest/gtest.h>

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
  const Program made = realise(splits.program).program;
  EXPECT_EQ(check::test::refusal_of(expand(made)), "");
  std::vector<std::string> found;
  const Graph& graph = made[made.main];
  for (const Operation& operation : graph.operations) {
    const Operator& op = made[operation.op];
    if (!op.transfer()) continue;
    std::string dims;
    for (const IndexDim& dim : op.dims) dims += " " + dim.name;
    found.push_back(graph[operation.results[0]].name + dims + (operation.placements.empty() ? " everywhere" : ""));
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
  // What all need is moved once; to one axis of the mesh, by rows.
  EXPECT_EQ(transfers(head, parts + "split P dim o into 2 over m.x\nsplit Q dim o into 2 over m.y\n"),
            std::vector<std::string>{"A.moved i k everywhere"});
  EXPECT_EQ(transfers(head, parts + "split P dim i into 2 over m.x\nsplit P dim o into 2 over m.y\n"
                                    "split Q dim i into 2 over m.x\nsplit r dim i into 2 over m.x\n"),
            std::vector<std::string>{"A.moved i k i_block"});
  // Other rows are another transfer.
  EXPECT_EQ(
      transfers(
          head,
          parts + "split P dim i into 2 over m.x\nsplit Q dim i into 2 over m.y\nsplit r dim i into 2 over m.x\n"),
      (std::vector<std::string>{"A.moved i k i_block", "A.moved2 i k i_block"}));
  // Parts that two devices hold come from the nearer one, so that each transfer is to its reader's devices.
  EXPECT_EQ(transfers(head,
                      "split A dim i into 2 over m.x\nsplit P dim o into 2 over m.x\nsplit Q dim o into 2 over m.y\n"
                      "split r dim i into 2 over m.x\n"),
            (std::vector<std::string>{"A.moved i o k o_block", "A.moved2 i o k o_block"}));
}

}  // namespace
}  // namespace tap::passes::test
