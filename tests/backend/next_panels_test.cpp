// Operands that come from far memory in panels: the next one is fetched while this one is used, and each comes once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "backend/tiles/packing.h"
#include "backend/tiles/register_tile.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

Program product_in_panels(int m, int n, int k) {
  return written_program(fmt::format(
      "program p(A: f32[{0}, {2}], B: f32[{2}, {1}]) -> (C: f32[{0}, {1}]) {{ C[i, j] = sum[t] A[i, t] * B[t, j] }}", m,
      n, k));
}

const Operator& operator_in_panels(const Program& program) {
  return program[program[program.main].operations.at(0).op];
}

std::string loops_with_constant(const Program& program) {
  std::vector<PreparedOperand> prepared;
  LowerOptions options;
  options.constant = {false, true};
  options.prepared = &prepared;
  return print(lowered(program, operator_in_panels(program), options));
}
std::string loops_of_product(int m, int n, int k) {
  const Program program = product_in_panels(m, n, k);
  return print(lowered(program, operator_in_panels(program), {}));
}
// C = A B where B is constant, and whether blocks of the reduction may be added to C.
Packing packing_with_constant(int m, int n, int k, bool accumulates) {
  const Program program = product_in_panels(m, n, k);
  const Operator& op = operator_in_panels(program);
  const Extents extents = extents_of(op);
  const std::vector<bool> prepared{false, true};
  const RegisterTile tile = choose_tile(program, op, extents, true, reference_machine, prepared).value();
  return choose_packing(op, tile, extents, accumulates, reference_machine, prepared).value_or(Packing());
}

TEST(NextPanels, OfAConstantAreFetchedByTheFirstRows) {
  const std::string loops = loops_with_constant(product_in_panels(64, 4096, 4096));
  EXPECT_NE(loops.find("let ahead = min(ip, 3)"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch t1[g_j + jp + 1, t, 16*ahead]"), std::string::npos) << loops;
}

TEST(NextPanels, OfAnOperandThatTheFirstRowsCopyAreFetchedByTheOthers) {
  const std::string loops = loops_of_product(64, 3136, 256);
  EXPECT_NE(loops.find("let ahead = min(ip - 1, 2)"), std::string::npos) << loops;
  EXPECT_NE(loops.find("fetch t1[t, j0 + 16*ahead + 32]"), std::string::npos) << loops;
}

TEST(NextPanels, AreNotFetchedWhereTheyAreNearOrEvictEachOther) {
  EXPECT_EQ(loops_of_product(64, 4096, 4096).find("let ahead"), std::string::npos) << "rows 16 KiB apart";
  EXPECT_EQ(loops_of_product(1024, 1024, 1024).find("let ahead"), std::string::npos) << "panels that the kernel made";
  EXPECT_EQ(loops_with_constant(product_in_panels(64, 512, 256)).find("let ahead"), std::string::npos) << "small";
}

TEST(NextPanels, BitsAreThoseOfTheOracle) {
  Machine machine = reference_machine;
  machine.l2_bytes = 512 << 10;
  const Program program = product_in_panels(45, 230, 700);
  LowerOptions options;
  options.machine = machine;
  EXPECT_NE(print(lowered(program, operator_in_panels(program), options)).find("let ahead"), std::string::npos);
  expect_native_is_oracle_on(machine, program, "45 x 230 x 700");
}

// Two blocks would read the constant twice; and the rows are packed once for all of its columns.
TEST(NextPanels, AllRowsAreOneBlockIfTheyFit) {
  EXPECT_GE(packing_with_constant(64, 4096, 1024, false).row_block, 64);
  EXPECT_GE(packing_with_constant(64, 4096, 4096, true).lane_block, 4096);
  EXPECT_LT(packing_with_constant(1024, 4096, 1024, false).row_block, 1024);
}

// Blocks of a long reduction add to the results, which are read and written across if lanes run along rows.
TEST(NextPanels, LanesOfLongReductionsAreContiguousInResults) {
  const Program program = product_in_panels(3000, 500, 2000);
  EXPECT_EQ(choose_tile(program, operator_in_panels(program), extents_of(operator_in_panels(program)), true,
                        reference_machine)
                .value()
                .dim,
            1u);
}

// The weights' axes of one cell come last: neighbouring cells are those along c nevertheless.
TEST(NextPanels, LanesOfPointwiseConvolutionsRunAlongPixels) {
  const Program program = written_program(
      "program p(X: f32[8, 64, 3136], K: f32[256, 64, 1, 1]) -> (Y: f32[8, 256, 3136]) { Y[b, o, i] = sum[c] X[b, c, "
      "i] "
      "* K[o, c, 0, 0] }");
  const Operator& op = operator_in_panels(program);
  EXPECT_EQ(choose_tile(program, op, extents_of(op), true, reference_machine, {false, true}).value().dim, 2u);
}

}  // namespace
}  // namespace tap::backend::test
