// Products with few columns: lanes run along the columns, few rows where rows share a set of the first cache; and rows that do
// not fill a vector are packed in smaller groups.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "backend/llvm/library.h"
#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "backend/machine_of.h"
#include "backend/tiles/cache_sets.h"
#include "backend/tiles/register_tile.h"
#include "ir/graph.h"
#include "tests/backend/compare.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

ir::Program product(int m, int n, int k) {
  auto outcome = tap::test::compile_text(fmt::format(
      "program p(A: f32[{0}, {2}], B: f32[{2}, {1}]) -> (C: f32[{0}, {1}]) {{ C[i, j] = sum[t] A[i, t] * B[t, j] }}", m,
      n, k));
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  return outcome.compiled->program;
}
const ir::Operator& product_of(const ir::Program& program) {
  return program[program[program.main].operations.at(0).op];
}

RegisterTile tile_of(int m, int n, int k) {
  const ir::Program program = product(m, n, k);
  const ir::Operator& op = product_of(program);
  return choose_tile(program, op, extents_of(op), true, ir::reference_machine).value();
}

TEST(FewColumns, LanesRunAlongThem) {
  for (auto [m, n, k] : {std::array{44, 8, 2000}, {44, 8, 2048}, {1000, 16, 2000}, {12, 7, 171}}) {
    const RegisterTile tile = tile_of(m, n, k);
    EXPECT_EQ(tile.dim, 1u) << m << " x " << n << " x " << k;
    EXPECT_EQ(tile.rows, 0u);
    EXPECT_EQ(tile.lanes, n > 8 ? 16u : 8u);
    EXPECT_GE(tile.row_count, 4u);
  }
}

// A load that an instruction folds still takes a load port: vectors side by side share it.
TEST(FewColumns, OfManyColumnsSeveralVectorsShareALoad) {
  for (auto [m, n, k] :
       {std::array{256, 256, 256}, {384, 384, 384}, {512, 512, 512}, {12288, 128, 128}, {100, 32, 300}})
    EXPECT_GT(tile_of(m, n, k).vectors, 1u) << m << " x " << n << " x " << k;
}

// The prefetch of a later step is outside the loop over its unrolled dim: lowering would find its variable out of scope.
TEST(FewColumns, StepsWithAnUnrolledDimArePrefetched) {
  for (int points : {1, 2, 4, 7}) {
    auto outcome = tap::test::compile_text(fmt::format(
        "program p(A: f32[3000, 3, {0}], B: f32[3000, {0}, 2048]) -> (C: f32[3, 2048]) {{ C[i, j] = sum[t, u] "
        "A[t, i, u] * B[t, u, j] }}",
        points));
    ASSERT_TRUE(outcome.compiled) << outcome.messages;
    const ir::Program& program = outcome.compiled->program;
    const Kernel kernel = lowered(program, product_of(program), {.machine = machine_of(*target_named("x86-64-v3"))});
    EXPECT_NE(print(kernel).find("fetch t1"), std::string::npos) << print(kernel);
  }
}

// Rows of 2048 floats are two pages apart: all their lines are in one set.
TEST(FewColumns, RowsDoNotCrowdASet) {
  EXPECT_GT(tile_of(44, 8, 2000).row_count, 8u);
  EXPECT_LT(tile_of(44, 8, 2048).row_count, 8u);
  EXPECT_LT(tile_of(1000, 16, 4096).row_count, 8u);
}

TEST(FewColumns, LinesInASet) {
  // Brute force: the sets of the lines of all rows.
  for (std::int64_t distance : {4, 64, 100, 128, 2048, 4096, 6144, 8192, 8256})
    for (std::int64_t rows : {1, 2, 5, 8, 14, 64}) {
      std::map<std::int64_t, std::int64_t> lines;
      for (std::int64_t r = 0; r < rows; ++r) ++lines[r * distance / 64 % ir::reference_machine.l1_sets];
      std::int64_t most = 0;
      for (auto [set, count] : lines) most = std::max(most, count);
      const std::int64_t found = lines_in_a_set(rows, distance, ir::reference_machine);
      if (distance % 64 == 0) { EXPECT_LE(std::abs(found - most), 1) << rows << " rows at " << distance; }
      if (distance % 4096 == 0) { EXPECT_EQ(found, rows); }
    }
}

// 44 rows in panels of 32: 12 remain, of which 8 and then 4 are transposed together.
TEST(FewColumns, RemainingRowsArePackedInGroups) {
  auto outcome = tap::test::compile_text(
      "program p(A: f32[44, 512], B: f32[17, 512]) -> (C: f32[17, 44]) { C[j, i] = sum[t] A[i, t] * B[j, t] }");
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  const ir::Program& transposed = outcome.compiled->program;
  const std::string loops = print(lowered(transposed, product_of(transposed), {}));
  EXPECT_NE(loops.find("of 16\n"), std::string::npos) << loops;
  EXPECT_NE(loops.find("unroll i in i0_2 of 8"), std::string::npos) << loops;
  EXPECT_NE(loops.find("unroll i in i0_3 of 4"), std::string::npos) << loops;
}

// Rows of 13 or 50 cells: the last cells of several rows are transposed together too, in vectors of as many lanes as they need.
TEST(FewColumns, LastCellsOfRowsArePackedInGroups) {
  for (auto [steps, lanes] : {std::pair{13, 16}, {50, 4}}) {
    const ir::Program program = product(72, 4, steps);
    const std::string loops = print(lowered(program, product_of(program), {}));
    const std::size_t last = loops.find(fmt::format("lanes t in s..te of {}\n", lanes));
    ASSERT_NE(last, std::string::npos) << loops;
    const std::size_t line = loops.rfind('\n', last), before = loops.rfind('\n', line - 1);
    EXPECT_NE(loops.substr(before, line - before).find("unroll i in i0_1 of 16"), std::string::npos) << loops;
  }
}

TEST(FewColumns, PackedRowsOfAnyLengthGiveTheSameResults) {
  for (const char* type : {"f32", "f64", "bf16"})
    for (int rows : {72, 83})
      for (int steps : {13, 50, 71}) {
        auto outcome = tap::test::compile_text(fmt::format(
            "program p(A: {0}[{1}, {2}], B: {0}[{2}, 4]) -> (C: {0}[{1}, 4]) {{ C[i, j] = sum[t] A[i, t] * B[t, j] }}",
            type, rows, steps));
        ASSERT_TRUE(outcome.compiled) << outcome.messages;
        const ir::Program& program = outcome.compiled->program;
        const ir::Operator& op = product_of(program);
        std::vector<Tensor> inputs;
        for (const TensorType& operand : op.operands)
          inputs.push_back(whole_numbers(operand.element, operand.shape, 5));
        expect_native_is_oracle(program, op, inputs);
      }
}

std::size_t dim_of_lanes(const char* text) {
  auto outcome = tap::test::compile_text(text);
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  const ir::Program& program = outcome.compiled->program;
  const ir::Operator& op = product_of(program);
  return choose_tile(program, op, extents_of(op), true, ir::reference_machine).value().dim;
}

TEST(FewColumns, LanesOfLargeTensorsAreContiguous) {
  // Lanes along d would write a line each, which is written again for every a: they run along a.
  EXPECT_EQ(dim_of_lanes("program p(A: f32[24, 24, 480], B: f32[400, 20, 24]) -> (C: f32[20, 480, 400, 24]) {\n"
                         "    C[f, d, b, a] = sum[g] A[a, g, d] * B[b, f, g] }"),
            3u);
  // Lanes along c would read a line each, whose other cells are read much later: they run along e.
  EXPECT_EQ(dim_of_lanes("program p(A: f32[32, 2, 1134, 188], B: f32[2]) -> (C: f32[1134, 188, 32]) {\n"
                         "    C[b, e, c] = sum[d] A[c, d, b, e] * B[d] }"),
            1u);
}

// Lanes along the reduction: B is copied so that its columns are contiguous and begin at whole cache lines.
TEST(FewColumns, OperandsOfLanesAlongAReductionAreCopied) {
  for (auto [text, copy] :
       {std::pair{"B: f32[107, 4]) -> (C: f32[1291, 4]) { C[i, j] = sum[t] A[i, t] * B[t, j] }", true},
        {"B: f32[4, 107]) -> (C: f32[1291, 4]) { C[i, j] = sum[t] A[i, t] * B[j, t] }", true},
        {"B: f32[1, 107]) -> (C: f32[1291]) { C[i] = sum[t] A[i, t] * B[0, t] }", false}}) {
    auto outcome = tap::test::compile_text(fmt::format("program p(A: f32[1291, 107], {}", text));
    ASSERT_TRUE(outcome.compiled) << outcome.messages;
    const ir::Program& program = outcome.compiled->program;
    const std::string loops = print(lowered(program, product_of(program), {}));
    EXPECT_EQ(loops.find("local p3: f32[4, 112]") != std::string::npos, copy) << loops;
  }
}

TEST(FewColumns, CopiedOperandsGiveTheSameResults) {
  for (const char* type : {"f32", "f64", "i32", "i64"})
    for (const char* combined : {"sum", "max"})
      for (auto [b, read] :
           {std::pair{"87, 3", "B[t, j]"}, {"3, 87", "B[j, t]"}, {"3, 90", "B[j, t + 2]"}, {"90, 3", "B[88 - t, j]"}}) {
        auto outcome = tap::test::compile_text(fmt::format(
            "program p(A: {0}[70, 87], B: {0}[{1}]) -> (C: {0}[70, 3]) {{ C[i, j] = {2}[t] A[i, t] * {3} }}", type, b,
            combined, read));
        ASSERT_TRUE(outcome.compiled) << outcome.messages;
        const ir::Program& program = outcome.compiled->program;
        const ir::Operator& op = product_of(program);
        std::vector<Tensor> inputs;
        for (const TensorType& operand : op.operands)
          inputs.push_back(whole_numbers(operand.element, operand.shape, 5));
        expect_native_is_oracle(program, op, inputs);
      }
}

}  // namespace
}  // namespace tap::backend::test
