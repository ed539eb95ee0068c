// Panels that all tiles of a call share are packed by a thread's first portion of the call, and kept for its others; those that all
// tiles of a group share, by its first tile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/llvm/executable.h"
#include "backend/loops/equal_work.h"
#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "passes/splits/expand.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string product_of(int m, int k, int n) {
  return fmt::format(
      "program p(a: f32[{0}, {1}], b: f32[{1}, {2}]) -> (c: f32[{0}, {2}]) {{ c[i, j] = sum[t] a[i, t] * b[t, j] }}", m,
      k, n);
}

bool packs_once(const Kernel& kernel) { return print(kernel).find("if (not done[0])") != std::string::npos; }

TEST(PackedOnce, IfEveryTileReadsTheSamePanels) {
  const ir::Program program = written_program(product_of(512, 512, 512));
  const Kernel kernel = lowered(program, program[program[program.main].operations[0].op], {});
  EXPECT_TRUE(packs_once(kernel));
  EXPECT_TRUE(has_equal_work(kernel, *kernel.tile_dim));  // in the portions of such batches
}

// Tiles along the lanes have panels of their own; of several blocks of the reduction only the last panels are kept.
TEST(PackedOnce, NotIfTilesOrBlocksReadTheirOwn) {
  for (const std::string& text : {product_of(64, 4096, 4096), product_of(2048, 4096, 512)}) {
    const ir::Program program = written_program(text);
    EXPECT_FALSE(packs_once(lowered(program, program[program[program.main].operations[0].op], {})));
  }
}

std::vector<float> product_by_hand(const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.shape()[0], depth = a.shape()[1], n = b.shape()[1];
  std::vector<float> c(static_cast<std::size_t>(m * n), 0);
  const auto from = a.as<float>(), with = b.as<float>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t t = 0; t < depth; ++t)
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(i * n + j)] +=
            from[static_cast<std::size_t>(i * depth + t)] * with[static_cast<std::size_t>(t * n + j)];
  return c;
}

// The next call of a run has another operand, and the next run has other ones, too.
TEST(PackedOnce, AgainForOtherOperands) {
  const ir::Program program = written_program(
      "program p(a: f32[512, 512], b: f32[512, 512], e: f32[512, 512]) -> (c: f32[512, 512], d: f32[512, 512]) {\n"
      "  c[i, j] = sum[t] a[i, t] * b[t, j]\n  d[i, j] = sum[t] a[i, t] * e[t, j]\n}");
  for (const ir::Operation& operation : program[program.main].operations)
    EXPECT_TRUE(packs_once(lowered(program, program[operation.op], {})));
  std::vector<Tensor> inputs = whole_inputs(program);
  for (std::size_t threads : {1u, 2u}) {
    ExecuteOptions options;
    options.threads = threads;
    Executable executable(passes::expand(program), options);
    for (int run = 0; run < 2; ++run) {
      const auto outputs = executable.run(inputs);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto cells = outputs[k].as<float>();
        EXPECT_EQ(std::vector<float>(cells.begin(), cells.end()), product_by_hand(inputs[0], inputs[k + 1]));
      }
      std::swap(inputs[1], inputs[2]);
      for (float& cell : inputs[2].as_mutable<float>()) cell = 1 - cell;
    }
  }
}

// Blocks of columns and of the reduction have panels of their own; those of rows have the same, in calls of their own.
TEST(PackedOnce, AgainForOtherBlocks) {
  const ir::Program program = written_program(product_of(512, 512, 512));
  const std::vector<Tensor> inputs = whole_inputs(program);
  for (const char* dim : {"i", "j", "t"})
    for (const char* over : {"sequential", "threads"})
      for (std::size_t threads : {1u, 2u, 3u}) {
        ExecuteOptions options;
        options.threads = threads;
        const std::string plan = fmt::format("plan 2\nsplit c dim {} into 4 over {}\n", dim, over);
        Executable native = executable(program, std::get<Plan>(parse_plan(plan)), options);
        const auto outputs = native.run(inputs);
        const auto cells = outputs[0].as<float>();
        EXPECT_EQ(std::vector<float>(cells.begin(), cells.end()), product_by_hand(inputs[0], inputs[1]))
            << plan << threads;
      }
}

// Of rows of q and all rows of k; with `later`, of those that are not later.
ir::Program largest_products(const std::string& operand, const std::string& range, const std::string& before = "") {
  return written_program("program p(q: f32[2, 400, 16], k: f32[2, 400, 16]) -> (y: f32[2, 400]) {\n" + before +
                             "  t[b, i, j] = sum[c] q[b, i, c] * " + operand + "\n  y[b, i] = max[" + range +
                             "] t[b, i, j]\n}",
                         before.empty() ? "fuse t, y over b, i\n" : "fuse z, t, y over b, i\n");
}

std::string loops_of_group(const ir::Program& program) {
  return print(lowered(program, program[program[program.main].operations.back().op], {}));
}

TEST(PackedOnce, ByTheFirstTileOfAGroup) {
  const ir::Program program = largest_products("k[b, j, c]", "j");
  EXPECT_NE(loops_of_group(program).find("if -lo_i + it == 0"), std::string::npos) << loops_of_group(program);
  expect_native_is_oracle_on({}, program, "all");
}

// What a tile needs grows with its rows, or is made by the tile itself.
TEST(PackedOnce, NotByTheFirstTileIfOthersNeedMore) {
  for (const ir::Program& program :
       {largest_products("k[b, j, c]", "j in 0..i + 1"),
        largest_products("z[b, i, j, c]", "j", "  z[b, i, j, c] = k[b, j, c] + q[b, i, c]\n")}) {
    EXPECT_EQ(loops_of_group(program).find("if -lo_i + it == 0"), std::string::npos) << loops_of_group(program);
    expect_native_is_oracle_on({}, program, "some");
  }
}

}  // namespace
}  // namespace tap::backend::test
