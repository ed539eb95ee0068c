// Along which dim threads share a kernel's box, and how small their parts may be.
#include "backend/lower/tile_dim.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

// How many parts are worth a call.
std::int64_t parts_of(const std::string& text) {
  const Program program = written_program(text);
  const Operator& op = program[program[program.main].operations.at(0).op];
  const Kernel kernel = lowered(program, op, {});
  return kernel.tile_dim ? op.dims[*kernel.tile_dim].range.size() / (kernel.worth * kernel.grain) : 1;
}
std::int64_t parts_of_scan(int rows, int columns) {
  return parts_of(fmt::format(
      "program p(X: f32[{0}, {1}]) -> (Y: f32[{0}, {1}]) {{ Y[i, j] = sum[k in 0..i + 1] X[k, j] }}", rows, columns));
}

// Each thread would write a part of each row, and its end in the same line as the next one's beginning.
TEST(TileDim, PartsOfShortRowsAreNotShared) {
  EXPECT_LE(parts_of_scan(7382, 83), 1);
  EXPECT_LE(parts_of_scan(100000, 33), 1);
  EXPECT_GE(parts_of_scan(344, 5783), 2);   // of long ones they are
  EXPECT_GE(parts_of_scan(4096, 1024), 2);  // and where all begin at a line
}

TEST(TileDim, ScansVisitEachPointOnce) {
  EXPECT_LE(parts_of_scan(16, 64), 1);
  EXPECT_GE(parts_of_scan(4096, 4096), 16);
}

// A part is worth a call if it takes longer than another thread takes to begin and end.
TEST(TileDim, ShortMapsAreNotShared) {
  EXPECT_LE(parts_of("program p(X: f32[65536]) -> (Y: f32[65536]) { Y[i] = X[i] + 1 }"), 1);
  EXPECT_GE(parts_of("program p(X: f32[131072]) -> (Y: f32[131072]) { Y[i] = X[i] + 1 }"), 2);
}

// Two threads took two to four times as long as one, where the processors of a virtual machine were far apart.
TEST(TileDim, SmallProductsAreNotShared) {
  auto product = [](int n) {
    return fmt::format(
        "program p(A: f32[{0}, {0}], B: f32[{0}, {0}]) -> (C: f32[{0}, {0}]) {{ C[i, j] = sum[k] A[i, k] * B[k, j] }}",
        n);
  };
  EXPECT_LE(parts_of(product(64)), 1);
  EXPECT_GE(parts_of(product(128)), 2);
}

// What is computed of each row takes longer than to wait for its line.
TEST(TileDim, ProductsOfShortRowsAre) {
  EXPECT_GE(parts_of("program p(A: f32[4, 4096], B: f32[4096, 200]) -> (C: f32[4, 200]) "
                     "{ C[i, j] = sum[k] A[i, k] * B[k, j] }"),
            2);
}

}  // namespace
}  // namespace tap::backend::test
