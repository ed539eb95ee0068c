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

}  // namespace
}  // namespace tap::backend::test
