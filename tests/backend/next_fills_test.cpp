// Panels that are copied from short rows of far memory: what the next point of the loop around reads is fetched meanwhile.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

// Transposes A: its rows of e are contiguous, and its first dim is that of the result's rows.
std::string loops_of(int a, int b, int c, int e, int f) {
  const Program program = written_program(
      fmt::format("program p(A: f32[{0}, {4}, {1}, {2}, {3}], B: f32[24, {4}]) -> (C: f32[{3}, 24, {2}, {1}, {0}]) {{\n"
                  "    C[e, d, c, b, a] = sum[f] A[a, f, b, c, e] * B[d, f]\n}}",
                  a, b, c, e, f));
  return print(lowered(program, program[program[program.main].operations.at(0).op], {}));
}

TEST(NextFills, ShortRowsAreFetchedWhileThoseBeforeThemAreCopied) {
  const std::string loops = loops_of(48, 36, 36, 48, 48);
  EXPECT_NE(loops.find("for c in lo_c..hi_c"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch t0[a, f, b, c + 1, e0]"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch t0[a, f, b, c + 1, s]"), std::string::npos) << loops;  // and what is left of a row
}

TEST(NextFills, LongRowsOrNearOnesAreNot) {
  EXPECT_EQ(loops_of(48, 36, 36, 256, 48).find("fetch t0"), std::string::npos);  // a kilobyte
  EXPECT_EQ(loops_of(16, 2, 3, 16, 16).find("fetch t0"), std::string::npos);     // 96 KiB in all
}

}  // namespace
}  // namespace tap::backend::test
