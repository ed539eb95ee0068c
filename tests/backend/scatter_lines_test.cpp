// Threads that scatter to columns of a result write whole cache lines each: a line that two of them write moves from one to the
// other at each point.
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string totals(const std::string& element, int columns, int rows = 4) {
  return "program p(x: " + element + "[1000, " + std::to_string(columns) + "], to: i64[1000]) -> (y: " + element + "[" +
         std::to_string(rows) + ", " + std::to_string(columns) +
         "]) { y[j, c] = sum[i] (if to[i] == j then x[i, c] else 0) for j in 0.." + std::to_string(rows) + " }";
}

std::int64_t grain_of(const std::string& text) {
  const ir::Program program = written_program(text);
  const Kernel kernel = lowered(program, program[program[program.main].operations[0].op], {});
  EXPECT_TRUE(kernel.tile_dim);
  return kernel.grain;
}

TEST(ScatterLines, ThreadsWriteWholeLines) {
  EXPECT_EQ(grain_of(totals("f32", 64)), 16);
  EXPECT_EQ(grain_of(totals("f64", 64)), 8);
  EXPECT_EQ(grain_of(totals("i8", 200)), 64);
}

TEST(ScatterLines, GiveTheSameBits) {
  for (int columns : {1, 15, 16, 17, 40}) {
    expect_written_result(totals("f32", columns));
    expect_written_result(totals("f64", columns, 3));
  }
}

}  // namespace
}  // namespace tap::backend::test
