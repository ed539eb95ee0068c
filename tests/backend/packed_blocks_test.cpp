// Register tiles of blocks and of tails: a product whose reduction is processed in blocks adds each block to the results of the one before.
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

// Whichever block it is, a tile begins with the identities, so that no register keeps a value of the last tile until then. Such
// values were spilled, one of them in the innermost loop: a product of 2048 × 2048 × 2048 took twice the time.
TEST(PackedBlocks, BeginWithIdentitiesOnAnyPath) {
  const ir::Program program = written_program(
      "program p(a: f32[2048, 2048], b: f32[2048, 2048]) -> (c: f32[2048, 2048]) { c[i, j] = sum[t] a[i, t] * b[t, j] "
      "}");
  const std::string loops = print(lowered(program, program[program[program.main].operations[0].op], {}));
  EXPECT_EQ(loops.find("tc == 0"), std::string::npos) << loops;
  const std::size_t zero = loops.find("acc0[2*i + v] = 0.0"), later = loops.find("if -lo_t + tc - 1 >= 0"),
                    loaded = loops.find("acc0[2*i + v] = t2[i, j]");
  ASSERT_NE(loaded, std::string::npos) << loops;
  EXPECT_LT(zero, later);
  EXPECT_LT(later, loaded);
}

// For each c and b, A is read in 48 × 48 pieces, which go on along c, and C is written in 48 × 24, which go on along b.
TEST(PackedBlocks, TheInnermostLoopGoesOnWhereMostPiecesEnd) {
  for (const char* order : {"e, d, c, b, a", "e, d, b, c, a"}) {
    const bool b_last = std::string(order) == "e, d, c, b, a";
    const ir::Program program = written_program(
        fmt::format("program p(A: f32[48, 48, 36, 36, 48], B: f32[24, 48]) -> (C: f32[48, 24, 36, 36, 48]) {{ "
                    "C[{}] = sum[f] A[a, f, b, c, e] * B[d, f] }}",
                    order));
    const std::string loops = print(lowered(program, program[program[program.main].operations[0].op], {}));
    const std::size_t b = loops.find("for b in"), c = loops.find("for c in");
    ASSERT_NE(b, std::string::npos) << loops;
    ASSERT_NE(c, std::string::npos) << loops;
    EXPECT_LT(b, c) << (b_last ? "b" : "c") << " is the last but one dim of C: " << loops;
  }
}

// 37 columns are three vectors, the last of which has a mask that is known: one tile, not two vectors and then one.
TEST(TailsOfLanes, AreOneTileOfAllTheirVectors) {
  const ir::Program program = written_program(
      "program p(a: f32[64, 31, 41], b: f32[64, 41, 37]) -> (c: f32[64, 31, 37]) { c[r, i, j] = sum[t] a[r, i, t] * "
      "b[r, t, j] }");
  const std::string loops = print(lowered(program, program[program[program.main].operations[0].op], {}));
  EXPECT_NE(loops.find("unroll v in 0 of 3"), std::string::npos) << loops;
  EXPECT_NE(loops.find("..j0 + 37 of 16"), std::string::npos) << loops;
}

}  // namespace
}  // namespace tap::backend::test
