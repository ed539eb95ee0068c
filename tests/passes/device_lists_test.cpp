// Blocks on devices that are listed, where no mesh says them; and values of several writers, each split along the value's blocks.
#include <gtest/gtest.h>

#include <set>

#include "ir/block_program.h"
#include "ir/interpret/interpret_blocks.h"
#include "ir/text/plan_text.h"
#include "passes/pass_manager.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/shardings/propagate.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/check/certified.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::passes {
namespace {

using namespace ir;

constexpr std::string_view three_values =
    "mesh pod = [data: 2]\n"
    "program p(X: i64[10, 6]) -> (Y: i64[10], Z: i64[10, 6]) {\n"
    "  H[i, k] = X[i, k] * 2 + i\n"
    "  Y[i] = sum[k] H[i, k]\n"
    "  Z[i, k] = H[9 - i, k] + Y[i]\n"
    "}\n";

SplitResult applied(const Program& program, const std::string& lines) {
  auto parsed = parse_plan("plan 2\n" + lines);
  if (auto* error = std::get_if<TextError>(&parsed)) ADD_FAILURE() << error->message;
  return apply_splits(program, std::get<Plan>(parsed));
}

// What the devices compute is the whole; the checker takes it.
BlockProgram expect_same(const Program& program, const SplitResult& split) {
  EXPECT_TRUE(split.problems.empty()) << split.problems[0].message;
  const Program sharded = realise(split.program).program;
  EXPECT_EQ(verify(sharded), std::vector<std::string>{});
  EXPECT_EQ(std::get<Program>(parse_program(print(sharded))), sharded);
  BlockProgram blocks = expand(sharded);
  EXPECT_EQ(check::test::refusal_of(blocks), "");
  const auto inputs = test::sample_inputs(program);
  test::expect_equal(interpret(blocks, inputs).outputs, interpret(program, program.main, inputs).outputs, "sharded");
  return blocks;
}

std::set<std::int64_t> devices_of(const BlockProgram& blocks, const std::string& value) {
  std::set<std::int64_t> devices;
  const Graph& graph = blocks.program[blocks.program.main];
  for (const Held& held : by_device(blocks.graphs[blocks.program.main.index()]).held)
    if (graph[held.value].name == value && !held.box.empty()) devices.insert(held.device);
  return devices;
}

TEST(DeviceLists, PreserveResults) {
  const Program program = test::lowered(std::string(three_values));
  BlockProgram blocks = expect_same(program, applied(program,
                                                     "split H dim i into 3 over devices {0, 1}, {2}, {7}\n"
                                                     "split Y dim i into [0, 9, 10] over devices {5}, {1, 3}\n"
                                                     "split Z dim i into 3 over devices {2}, {0}, {1}\n"));
  EXPECT_EQ(devices_of(blocks, "H"), (std::set<std::int64_t>{0, 1, 2, 7}));
  EXPECT_EQ(devices_of(blocks, "Y"), (std::set<std::int64_t>{1, 3, 5}));
  expect_same(program, applied(program,
                               "split H dim i into 2 over devices {0, 1}, {2, 3}\n"
                               "split H dim k into 2 over devices {0, 2}, {1, 3}\n"
                               "split Y dim k into 3 over devices {8}, {6}, {4}\n"
                               "place Y over devices {3, 9}\n"
                               "split Z dim i into 2 over pod.data\n"));
  blocks = expect_same(program, applied(program, "place H over devices {4}\nplace Z at 1 over pod.data\n"));
  EXPECT_EQ(devices_of(blocks, "H"), std::set<std::int64_t>{4});
  EXPECT_EQ(devices_of(blocks, "Z"), std::set<std::int64_t>{1});
}

// What is placed alike needs no move; a block that others hold comes from them.
TEST(DeviceLists, TransferBlocksOfOtherDevices) {
  const Program program = test::lowered(std::string(three_values));
  auto transfers = [&](const std::string& lines) {
    const Program sharded = realise(applied(program, lines).program).program;
    std::size_t count = 0;
    for (const Operation& o : sharded[sharded.main].operations) count += sharded[o.op].transfer() != nullptr;
    return count;
  };
  const std::string h = "split H dim i into 2 over devices {3}, {1}\n";
  EXPECT_EQ(transfers(h + "split Y dim i into 2 over devices {3}, {1}\n"), 2u);  // Z reads both
  EXPECT_EQ(transfers(h + "split Y dim i into 2 over devices {1}, {3}\n"), 3u);
  EXPECT_EQ(transfers("place H over devices {3}\nplace Y over devices {3}\nplace Z over devices {3}\n"), 0u);
  EXPECT_EQ(transfers("place H over devices {3}\nplace Y over devices {3, 4}\nplace Z over devices {3}\n"), 2u);
}

TEST(DeviceLists, InvalidListsAreReported) {
  const Program program = test::lowered(std::string(three_values));
  auto problem = [&](const std::string& lines) {
    SplitResult result = applied(program, lines);
    return result.problems.size() == 1 ? result.problems[0].message : std::to_string(result.problems.size());
  };
  EXPECT_EQ(problem("split H dim i into 3 over devices {0}, {1}\n"), "3 blocks for 2 sets of devices");
  EXPECT_EQ(problem("split H dim i into 2 over devices {0, 1}, {1}\n"),
            "device 1 would hold the blocks 0 and 1; a device holds one box of a result");
  EXPECT_EQ(
      problem("split H dim i into 2 over devices {0}, {1}\nsplit H dim k into 2 over devices {0}, {1}\n"),
      "the sets {0} and {1} have no device in common: a block of `H` would have no device (it is already split over "
      "devices along `i`)");
  EXPECT_EQ(problem("split H dim i into 2 over devices {0}, {1}\nsplit H dim k into 2 over pod.data\n"),
            "`H` is already placed on listed devices");
  EXPECT_EQ(problem("split H dim i into 2 over pod.data\nsplit H dim k into 2 over devices {0}, {1}\n"),
            "`H` is already on the mesh `pod`");
  EXPECT_EQ(problem("place H at 2 over pod.data\n"),
            "position 2 does not exist along `data`, which has 2 positions (counted from 0)");
}

ShardedPlan followed(const Program& program) {
  PropagationOptions options;
  options.prepare = false;
  return plan_of_shardings(propagate(program, options).program);
}

// Each writer is split where the value is: into blocks of other sizes, or none.
TEST(SeveralWriters, IsSplitAlongTheValue) {
  for (const char* equations :
       {"Y[i, j] = A[i, j] for i in 0..4\n  Y[4 + i, j] = B[i, j]",  // blocks of 4, 4 and 1: one is of both
        "Y[2*i, j] = A[i, j] for i in 0..5\n  Y[2*i + 1, j] = A[i, j] * 2 for i in 0..4",
        "Y[0, j] = 7 for j in 0..6\n  Y[1 + i, j] = A[i, j] for i in 0..7\n  Y[8, j] = B[0, j]",
        "Y[i, j] = A[i, j] for i in 0..5, j in 0..3\n  Y[i, 3 + j] = A[i, j] for i in 0..5, j in 0..3\n"
        "  Y[5 + i, j] = B[i, j] for i in 0..4"}) {
    for (const char* sharding :
         {"pod[{a}, {}]", "pod[{}, {b}]", "pod[{a}, {b}]", "pod[{b, a}, {}]", "pod[{}, {a, b}]"}) {
      SCOPED_TRACE(std::string(equations) + " @ " + sharding);
      const Program program =
          run(lowering(),
              test::lowered("mesh pod = [a: 4, b: 2]\n"
                            "program p(A: i64[7, 6], B: i64[5, 6]) -> (Z: i64[9, 6] @ " +
                            std::string(sharding) + ") {\n  " + equations + "\n  Z[i, j] = Y[i, j] * 2\n}\n"))
              .program;
      ShardedPlan sharded = followed(program);
      EXPECT_TRUE(sharded.left.empty()) << to_string(sharded.left[0]);
      BlockProgram blocks = expect_same(program, apply_splits(program, sharded.plan));
      EXPECT_GT(devices_of(blocks, "Y").size(), 1u);
    }
  }
}

// Where not every point of a box writes a cell, it can not be written apart.
TEST(SeveralWriters, NonBoxWritesAreRefused) {
  const Program program = test::lowered(
      "mesh pod = [a: 2]\n"
      "program p(A: i64[4, 4]) -> (Y: i64[4, 4]) {\n  Y[i, j] = A[i, j] for i in 0..4, j in 0..i + 1\n"
      "  Y[i, j] = A[j, i] for i in 0..4, j in i + 1..4\n}");
  auto problem = [&](const std::string& lines) {
    SplitResult result = applied(program, lines);
    return result.problems.empty() ? "" : result.problems[0].message;
  };
  EXPECT_EQ(problem("split Y@0 dim i into 2 over pod.a\n"),
            "`Y@1` also writes a part of `Y` and is not split over `pod.a`");
  EXPECT_EQ(
      problem("split Y@0 dim i into 2 over pod.a\nsplit Y@1 dim j into 2 over pod.a\n"),
      "several operations write `Y`, and the part of one device would not be a box: their blocks over `pod.a` must "
      "end at the same cells");
  EXPECT_EQ(problem("split Y@0 dim i into 2 over pod.a\nsplit Y@1 dim i into 2 over pod.a\n"), "");
}

// Blocks that end elsewhere, or of one of two operations, or that lie between each other: each point in a cell of its own first.
TEST(SeveralWriters, NonBoxWritesUseAStagingBuffer) {
  struct {
    const char *equations, *lines;
    std::size_t staged;
  } cases[] = {
      {"Y[i] = A[i] for i in 0..4\n  Y[4 + j] = B[j]", "split Y@0 dim i into 2 over pod.a\n", 1},
      {"Y[i] = A[i] for i in 0..4\n  Y[4 + j] = B[j]",
       "split Y@0 dim i into 2 over pod.a\nsplit Y@1 dim j into 2 over pod.a\n", 2},
      {"Y[i] = A[i] for i in 0..4\n  Y[4 + j] = B[j]",
       "split Y@0 dim i into [0, 2, 4] over pod.a\nsplit Y@1 dim j into [0, 0, 4] over pod.a\n", 0},
      {"Y[i] = A[i] for i in 0..4\n  Y[4 + j] = B[j]", "place Y@0 at 0 over pod.a\nplace Y@1 at 1 over pod.a\n", 0},
      {"Y[i] = A[i] for i in 0..4\n  Y[4 + j] = B[j]", "place Y@0 at 1 over pod.a\n", 1},
      {"Y[2*i + r] = A[i] * B[r] for i in 0..4, r in 0..2", "split Y dim r into 2 over pod.a\n", 1},
      {"Y[2*i + r] = sum[k] A[k] * B[k] * (i + r) for i in 0..4, r in 0..2",
       "split Y dim i into 2 over threads\nsplit Y dim r into 2 over pod.a\n", 1},
      {"Y[2*i + 1 - r] = sum[k in 0..i + 1] A[k] * B[k] * (i + r) for i in 0..4, r in 0..2",
       "split Y dim r into 2 over pod.a\nsplit Y dim k into 3 over threads\n", 1},
      {"Y[2*i + r] = A[i - 1 else 0] for i in 1..5, r in -2..0", "split Y dim r into [-2, -2, 0] over pod.a\n", 1},
  };
  for (const auto& [equations, lines, staged] : cases) {
    SCOPED_TRACE(std::string(equations) + "\n" + lines);
    const Program program = test::lowered("mesh pod = [a: 2]\nprogram p(A: i64[4], B: i64[4]) -> (Z: i64[8]) {\n  " +
                                          std::string(equations) + "\n  Z[i] = Y[i] - Y[7 - i]\n}");
    const SplitResult result = applied(program, lines);
    ASSERT_TRUE(result.problems.empty()) << result.problems[0].message;
    const std::vector<Value>& values = result.program[result.program.main].values;
    auto is_staged = [](const Value& v) {
      return v.name.find(".staged") != std::string::npos && v.name.find(".partial") == std::string::npos;
    };
    EXPECT_EQ(std::ranges::count_if(values, is_staged), staged);
    expect_same(program, result);
  }
}

// Backwards: the plan has blocks in the order of the dim.
TEST(SeveralWriters, ReversedWritesAreNotSplit) {
  const Program program =
      run(lowering(),
          test::lowered("mesh pod = [a: 2]\n"
                        "program p(A: i64[4], B: i64[4]) -> (Y: i64[8] @ pod[{a}]) { Y[3 - i] = A[i] for i in 0..4\n"
                        " Y[4 + j] = B[j] }"))
          .program;
  ShardedPlan sharded = followed(program);
  ASSERT_EQ(sharded.left.size(), 1u);
  EXPECT_EQ(to_string(sharded.left[0]),
            "`axis 0` of `Y` is not split over `a`: several operations write this value, and `Y@0` writes it "
            "in reverse order");
}

}  // namespace
}  // namespace tap::passes
