// Register tiles over packed operands where only running shows how many rows are left: a few sizes of tiles do for all numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

// A group whose tiles of rows i need the columns j up to `beyond` after their last row.
std::string causal(int n, int c, int beyond) {
  return fmt::format(
      "program p(Q: f32[{0}, {1}], K: f32[{2}, {1}], V: f32[{2}, {1}]) -> (O: f32[{0}, {1}]) {{\n"
      "    t[i, j] = sum[c] Q[i, c] * K[j, c]\n"
      "    m[i] = max[j in 0..i + {3}] t[i, j]\n"
      "    e[i, j] = t[i, j] - m[i]\n"
      "    s[i] = sum[j in 0..i + {3}] e[i, j]\n"
      "    O[i, c] = sum[j in 0..i + {3}] (e[i, j] + s[i]) * V[j, c]\n}}",
      n, c, n + beyond, beyond + 1);
}
constexpr const char* together = "fuse t, m, e, s, O over i\n";

std::string loops_of(const ir::Program& program) {
  return print(lowered(program, program[program[program.main].operations.at(0).op], {}));
}

TEST(AnyRows, EveryNumberIsComputed) {
  for (int beyond = 0; beyond < 16; ++beyond) expect_written_result(causal(48 + beyond % 3, 64, beyond), together);
}

TEST(AnyRows, TakeFewTiles) {
  const std::string loops = loops_of(written_program(causal(1024, 128, 0), together));
  std::size_t tiles = 0;
  for (std::size_t at = 0; (at = loops.find(" * t1[j, c]", at)) != std::string::npos; ++at) ++tiles;
  EXPECT_EQ(tiles, 1u + 3u + 3u) << loops;  // all sixteen rows; four, eight or twelve, and one to three
}

}  // namespace
}  // namespace tap::backend::test
