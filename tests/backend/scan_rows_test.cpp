// Scans along far rows: each strip of lanes fetches its later rows, and at the end the first ones of the next strip.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

Program running_sums(int rows, int columns, const char* range) {
  return written_program(fmt::format(
      "program p(X: f32[{0}, {1}]) -> (Y: f32[{0}, {1}]) {{ Y[k, j] = sum[t in {2}] X[t, j] }}", rows, columns, range));
}
std::string loops_of_sums(int rows, int columns, const char* range) {
  const Program program = running_sums(rows, columns, range);
  return print(lowered(program, program[program[program.main].operations.at(0).op], {}));
}

TEST(ScanRows, AreFetchedAheadFromFarMemory) {
  const std::string loops = loops_of_sums(100, 30000, "0..k + 1");
  EXPECT_NE(loops.find("if hi_k - k - 7 >= 0\n"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch near t0[t + 6, j]"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch near t0[lo_k - hi_k + t + 6, j + 256]"), std::string::npos) << loops;
}

TEST(ScanRows, AreFetchedBackwardsBySumsFromTheEnd) {
  const std::string loops = loops_of_sums(100, 30000, "k..100");
  EXPECT_NE(loops.find("fetch near t0[t - 6, j]"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch near t0[-lo_k + hi_k + t - 6, j + 256]"), std::string::npos) << loops;
}

TEST(ScanRows, AreNotFetchedInTheCachesOrWhereTheyFollowEachOther) {
  EXPECT_EQ(loops_of_sums(24, 2956, "0..k + 1").find("fetch"), std::string::npos);
  EXPECT_EQ(loops_of_sums(100000, 64, "0..k + 1").find("fetch"), std::string::npos);
}

// Fetches in strips that fill all lanes and in the last one, of few rows and of many, by one thread and by several.
TEST(ScanRows, BitsAreThoseOfTheOracle) {
  Machine machine = reference_machine;
  machine.l2_bytes = 16 << 10;
  for (const char* range : {"0..k + 1", "k..{}"})
    for (const int rows : {3, 40})
      expect_native_is_oracle_on(machine, running_sums(rows, 1500, fmt::format(fmt::runtime(range), rows).c_str()),
                                 range);
}

}  // namespace
}  // namespace tap::backend::test
