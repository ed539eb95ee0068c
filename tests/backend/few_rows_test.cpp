// Products of few rows by a large matrix: the matrix comes from memory once, well ahead, and the first rows copy it for the others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "backend/tiles/packing.h"
#include "backend/tiles/register_tile.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

Program few_rows(int m, int n, int k) {
  auto outcome = tap::test::compile_text(fmt::format(
      "program p(A: f32[{0}, {2}], B: f32[{2}, {1}]) -> (C: f32[{0}, {1}]) {{ C[i, j] = sum[t] A[i, t] * B[t, j] }}", m,
      n, k));
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  return outcome.compiled->program;
}
const Operator& reduction_of(const Program& program) { return program[program[program.main].operations.at(0).op]; }

Packing packing_of(int m, int n, int k, const Machine& machine = reference_machine) {
  const Program program = few_rows(m, n, k);
  const Operator& op = reduction_of(program);
  const Extents extents = extents_of(op);
  const RegisterTile tile = choose_tile(program, op, extents, true, machine).value();
  EXPECT_EQ(tile.dim, 1u) << "lanes of " << m << " x " << n << " x " << k;
  return choose_packing(op, tile, extents, true, machine).value_or(Packing());
}
std::string loops_of(int m, int n, int k) {
  const Program program = few_rows(m, n, k);
  return print(lowered(program, reduction_of(program), {}));
}

TEST(FewRows, TheFirstCopyAMatrixFromMemory) {
  for (auto [m, n, k] :
       {std::array{64, 4096, 4096}, {32, 4096, 4096}, {47, 8192, 1108}, {24, 4096, 4096}, {40, 1024, 1024}}) {
    const Packing packing = packing_of(m, n, k);
    EXPECT_TRUE(packing.by_first_rows) << m << " x " << n << " x " << k;
    EXPECT_EQ(packing.lane_reads.size(), 1u);
  }
  EXPECT_FALSE(packing_of(1024, 1024, 1024).by_first_rows) << "many rows: a copy of its own is nothing beside its uses";
  EXPECT_FALSE(packing_of(14, 4096, 4096).by_first_rows) << "no other rows";
  EXPECT_FALSE(packing_of(40, 256, 256).by_first_rows) << "the matrix is near";
}

TEST(FewRows, CopyingTakesNoLoopOfItsOwn) {
  const std::string loops = loops_of(64, 4096, 4096);
  const auto copy = loops.find("p3[0, t - tc, j - j0] = t1[t, j]"), use = loops.find("* p3[0, t - tc, j - j0]");
  ASSERT_NE(copy, std::string::npos) << loops;
  ASSERT_NE(use, std::string::npos) << loops;
  EXPECT_EQ(loops.substr(copy, use - copy).find("for "), std::string::npos) << loops;
}

RegisterTile row_by_constant(int n, int k) {
  const Program program = few_rows(1, n, k);
  const Operator& op = reduction_of(program);
  const Extents extents = extents_of(op);
  const RegisterTile tile = choose_tile(program, op, extents, true, reference_machine, {false, true}).value();
  return with_row_of_prepared(op, tile, extents, reference_machine, {false, true});
}

// A row of 222 cells is two panels of 7 vectors, each a stream, of a matrix that stays in the caches.
TEST(FewRows, OneRowReadsPanelsOfAConstantWithShortRows) {
  const RegisterTile tile = row_by_constant(222, 3497);
  EXPECT_EQ(tile.rows, std::optional<std::size_t>(0));
  EXPECT_EQ(tile.vectors, 7u);
  EXPECT_FALSE(row_by_constant(4096, 800).rows) << "pieces of long rows are as good";
  EXPECT_FALSE(row_by_constant(222, 100000).rows) << "far memory has more streams for pieces";
}

// Tiles at the edges look at each lane that they read: 6 vectors would be two tiles of six, 2 are two of 18.
TEST(FewRows, WindowsAtEdgesAreASmallPartOfARow) {
  auto tile_of = [](int columns, const char* edge) {
    auto outcome = tap::test::compile_text(
        fmt::format("program p(X: f32[1451, {0}]) -> (Y: f32[1449, {0} - 2]) {{ Y[i, j] = sum[u in 0..3, v in 0..3] "
                    "X[i + u, j + v{1}] for i in 0..1449, j in 0..{0} - 2 }}",
                    columns, edge));
    if (!outcome.compiled) throw std::runtime_error(outcome.messages);
    const Program& program = outcome.compiled->program;
    return choose_tile(program, reduction_of(program), extents_of(reduction_of(program)), true, reference_machine)
        .value();
  };
  EXPECT_EQ(tile_of(572, " - 1 else 0").vectors, 2u);
  EXPECT_EQ(tile_of(572, " - 1 else 0").row_count, 4u);
  EXPECT_GT(tile_of(572, "").vectors, 2u) << "nothing is outside";
  EXPECT_GT(tile_of(5762, " - 1 else 0").vectors, 2u) << "a long row has many tiles";
}

// Their lines are a page apart, all in one set of the first cache.
TEST(FewRows, RowsThatCrowdASetArePacked) {
  EXPECT_EQ(packing_of(14, 4096, 4096).row_reads.size(), 1u);
  EXPECT_GE(packing_of(14, 4096, 4096).lane_block, 4096) << "once for all columns";
  EXPECT_EQ(packing_of(14, 4096, 1000).row_reads.size(), 0u) << "not a power of two";
}

// 14 rows of two vectors take 14 cycles a step: 53 steps would be enough for memory that is busy, 48 are 96 lines.
TEST(FewRows, LinesAreFetchedWellAhead) {
  EXPECT_NE(loops_of(14, 4096, 4096).find("fetch t1[t + 48, j]"), std::string::npos) << loops_of(14, 4096, 4096);
  EXPECT_NE(loops_of(64, 4096, 4096).find("fetch t1[t + 48, j]"), std::string::npos);
  EXPECT_NE(loops_of(5, 4096, 4096).find("fetch t1[t + 19, j]"), std::string::npos) << loops_of(5, 4096, 4096);
}

// Beyond the last step nothing is used: of a short reduction at most a quarter of the steps.
TEST(FewRows, ShortReductionsAreNotFetchedBeyondTheirEnd) {
  EXPECT_NE(loops_of(14, 100000, 100).find("fetch t1[t + 25, j]"), std::string::npos) << loops_of(14, 100000, 100);
}

// 1024 products of 32 cubed: the lines of one are near when the next rows read them.
TEST(FewRows, SmallMatricesOfABatchAreNotCopied) {
  auto outcome = tap::test::compile_text(
      "program p(A: f32[1024, 32, 32], B: f32[1024, 32, 32]) -> (C: f32[1024, 32, 32]) { C[r, i, j] = sum[t] A[r, i, "
      "t] * "
      "B[r, t, j] }");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  const Program& program = outcome.compiled->program;
  const std::string loops = print(lowered(program, reduction_of(program), {}));
  EXPECT_EQ(loops.find("local"), std::string::npos) << loops;
}

// With rows or columns shared by threads, and blocks of the reduction.
TEST(FewRows, BitsAreThoseOfTheOracle) {
  Machine machine = reference_machine;
  machine.l2_bytes = 512 << 10;
  for (auto [m, n, k] : {std::array{33, 130, 1100}, {17, 221, 700}}) {
    EXPECT_TRUE(packing_of(m, n, k, machine).by_first_rows) << m << " x " << n << " x " << k;
    expect_native_is_oracle_on(machine, few_rows(m, n, k), fmt::format("{} x {} x {}", m, n, k));
  }
}

// Matrices whose cells lie beside those of the next are packed for the whole batch, rows for one of it.
TEST(FewRows, BatchesOfInterleavedMatricesAreThoseOfTheOracle) {
  for (const char* text :
       {"program p(A: f64[9, 1000, 8], B: f64[1000, 33, 9]) -> (Y: f64[33, 8, 9]) { Y[j, i, b] = sum[k] A[b, k, i] * "
        "B[k, j, b] }",
        "program p(A: f32[256, 64, 16], B: f32[200, 16, 256]) -> (Y: f32[200, 16, 64]) { Y[j, b, i] = sum[k] A[k, i, "
        "b] * B[j, b, k] }",
        "program p(A: f64[8, 16, 256], B: f64[256, 100, 16]) -> (Y: f64[8, 16, 100]) { Y[i, b, j] = sum[k] A[i, b, k] "
        "* B[k, j, b] }"})
    expect_written_result(text);
}

}  // namespace
}  // namespace tap::backend::test
