// Groups whose last reader of an operand in far memory fetches the next tile's cells of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string loops_by_rows(const std::string& y, int rows, int cells) {
  const ir::Program program =
      written_program(fmt::format("program p(x: f32[{0}, {1}], w: f32[{1}]) -> (y: f32[{0}, {1}]) {{\n"
                                  "  s[i] = sum[j] x[i, j] * x[i, j]\n  y[i, j] = {2}\n}}",
                                  rows, cells, y),
                      "fuse s, y over i\n");
  return print(lowered(program, program[program[program.main].operations[0].op], {}));
}

TEST(NextTiles, OfAnOperandThatIsReadAgainAreFetched) {
  const std::string loops = loops_by_rows("x[i, j] * w[j] / s[i]", 4096, 4096);
  EXPECT_NE(loops.find("fetch t0[i_2 + 1, j_1]"), std::string::npos) << loops;
  EXPECT_EQ(loops.find("fetch t1"), std::string::npos) << loops;  // every tile reads all of it
}

TEST(NextTiles, AreNotFetchedWhereMemoryIsNear) {
  const std::string loops = loops_by_rows("x[i, j] * w[j] / s[i]", 64, 4096);
  EXPECT_EQ(loops.find("fetch"), std::string::npos) << loops;
}

// A row takes most of the second cache: what was fetched would be evicted.
TEST(NextTiles, AreNotFetchedIfTheyAreLarge) {
  const std::string loops = loops_by_rows("x[i, j] * w[j] / s[i]", 64, 1 << 18);
  EXPECT_EQ(loops.find("fetch"), std::string::npos) << loops;
}

// The map reads nothing of the operand.
TEST(NextTiles, AreNotFetchedByAnotherOperation) {
  const std::string loops = loops_by_rows("w[j] / s[i]", 4096, 4096);
  EXPECT_EQ(loops.find("fetch"), std::string::npos) << loops;
}

// Rows of 25 cells: their stores read the lines first. Every line of a row is fetched, the last ones by its part of a vector.
TEST(NextTiles, OfResultsInPartsOfLinesAreFetched) {
  const std::string loops = loops_by_rows("x[i, j] * w[j] / s[i]", 400000, 25);
  EXPECT_NE(loops.find("step 16\n"), std::string::npos) << loops;  // rows of a tile: as few as share a vector
  std::size_t reads = 0, writes = 0;
  for (std::size_t at = 0; (at = loops.find("fetch near t", at)) != std::string::npos; ++at)
    (loops[at + 12] == '0' ? reads : writes) += 1;
  EXPECT_EQ(reads, 2U) << loops;
  EXPECT_EQ(writes, 2U) << loops;
}

// Results of whole lines are stored past the caches, and what is read goes to the second cache.
TEST(NextTiles, OfResultsInWholeLinesAreNotFetched) {
  const std::string loops = loops_by_rows("x[i, j] * w[j] / s[i]", 400000, 32);
  EXPECT_NE(loops.find("fetch t0"), std::string::npos) << loops;
  EXPECT_EQ(loops.find("fetch near"), std::string::npos) << loops;
  EXPECT_EQ(loops.find("fetch t2"), std::string::npos) << loops;
}

}  // namespace
}  // namespace tap::backend::test
