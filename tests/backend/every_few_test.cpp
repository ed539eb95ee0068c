// Lanes whose cells are a few apart: whole vectors are loaded, and shuffles take the cells. Nothing beyond the tensor is read:
// native results are computed between pages that nobody may read (edge_of_memory_test.cpp has the rest).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/llvm/library.h"
#include "backend/lower/lowered.h"
#include "backend/tiles/register_tile.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

constexpr const char* element_types[] = {"f32", "f64", "f16", "bf16", "i8", "u8", "i16", "i32", "i64", "bool"};

// Every column of rows of 2 to 5 cells, at sizes around vectors.
TEST(EveryFew, ColumnsOfNarrowRows) {
  for (const char* type : element_types)
    for (int columns : {2, 3, 4, 5})
      for (int rows : {1, 7, 16, 67, 200})
        for (int column : {0, columns - 1})
          expect_written_result(fmt::format("program p(X: {0}[{1}, {2}]) -> (Y: {0}[{1}]) {{ Y[i] = X[i, {3}] }}", type,
                                            rows, columns, column));
}

TEST(EveryFew, PairsOfComplexNumbers) {
  expect_written_result(
      "program p(X: f32[300, 2], Y: f32[300, 2]) -> (R: f32[300], I: f32[300]) {\n"
      "    R[i] = X[i, 0] * Y[i, 0] - X[i, 1] * Y[i, 1]\n    I[i] = X[i, 0] * Y[i, 1] + X[i, 1] * Y[i, 0]\n}");
}

TEST(EveryFew, WindowsThatMoveByAFew) {
  for (const char* type : {"f32", "f64", "i32", "u8"})
    for (int step : {2, 3, 4, 5})
      for (int columns : {5, 33, 64})
        expect_written_result(
            fmt::format("program p(X: {0}[3, {1}, {2}]) -> (Y: {0}[3, 4, {3}]) {{\n"
                        "    Y[c, i, j] = max[u in 0..2, v in 0..2] X[c, {4} * i + u, {4} * j + v]\n}}",
                        type, 3 * step + 2, (columns - 1) * step + 2, columns, step));
}

// Windows that begin before the tensor and end after it.
TEST(EveryFew, WindowsBeyondTheTensor) {
  for (const char* type : {"f32", "f64", "f16", "i32", "u8"})
    for (int step : {1, 2, 3, 4, 5})
      for (int before : {1, 3})
        for (int columns : {1, 5, 40})
          expect_written_result(fmt::format(
              "program p(X: {0}[3, 7, {1}]) -> (Y: {0}[3, {2}, {3}]) {{\n"
              "    Y[c, i, j] = sum[u in 0..3, v in 0..3] X[c, {4} * i + u - {5}, {4} * j + v - {5} else 2]\n}}",
              type, columns * step, (6 + before) / step + 1, columns + 1, step, before));
}

// Reads that begin fewer cells apart than their lanes share vectors, which have no cell that none of them needs.
TEST(EveryFew, SeveralCellsOfEachRow) {
  for (const char* type : {"f32", "bf16", "i8"})
    for (int columns : {2, 3, 4, 7})
      for (int rows : {23})
        for (const char* cells :
             {"0 1", "1 0", "0 2", "1 2", "0 3", "1 3", "2 3", "0 1 2", "1 2 3", "0 1 2 3", "0 1 4 5 6", "2 3 6"}) {
          std::string forward, backward;
          for (const char* c = cells; *c; ++c) {
            if (*c == ' ') continue;
            if (*c - '0' >= columns) break;
            forward += fmt::format("{}X[i, {}]", forward.empty() ? "" : " + ", *c);
            backward += fmt::format("{}X[{} - i, {}]", backward.empty() ? "" : " - ", rows - 1, *c);
          }
          if (forward.empty()) continue;
          expect_written_result(
              fmt::format("program p(X: {0}[{1}, {2}]) -> (Y: {0}[{1}], Z: {0}[{1}]) {{\n"
                          "    Y[i] = {3}\n    Z[i] = {4}\n}}",
                          type, rows, columns, forward, backward));
        }
}

// Of rows that a loop sums: whatever is read before, between and after them.
TEST(EveryFew, NeighboursInARow) {
  for (int step : {2, 3, 4})
    for (int n : {16, 17, 40})
      for (const char* reads : {"X[{0} * i] - X[{0} * i + 1]", "X[{0} * i + 1] - X[{0} * i + 2] * X[{0} * i + 3]",
                                "X[{0} * i] * X[{0} * i + {0}] - X[{0} * i + {0} + 1] * X[{0} * i + 1]",
                                "X[{0} * i + 2] - X[{0} * i + 1] * (X[{0} * i + 3 else 0] + X[{0} * i - 1 else 0])",
                                "X[{0} * i] + (if i >= 1 then X[{0} * i - 1 else 3] else X[{0} * i + 1])",
                                "X[{0} * i + 1] - (if X[{0} * i] < 0 then X[{0} * i + 2] else X[{0} * i + {0} + 2])"})
        expect_written_result(fmt::format("program p(X: f32[{}], Z: f32[{}]) -> (Y: f32[{}]) {{ Y[i] = Z[i] * ({}) }}",
                                          step * n + 3 + step, n, n, fmt::format(fmt::runtime(reads), step)));
}

TEST(EveryFew, ReversedRows) {
  for (const char* type : element_types)
    for (int n : {1, 2, 16, 33, 100})
      for (const char* row : {"{1} - 1 - i", "2 * {1} - 2 - 2 * i", "3 * {1} - 1 - 3 * i"})
        expect_written_result(
            fmt::format("program p(X: {0}[{2}], Z: {0}[{2}]) -> (Y: {0}[{1}]) {{ Y[i] = if Z[i] == X[{3}] then Z[{3}] "
                        "else X[{3}] }}",
                        type, n, 3 * n, fmt::format(fmt::runtime(row), type, n)));
}

std::string assembly_of(const std::string& text, const char* target) {
  const ir::Program program = written_program(text);
  const std::vector<Kernel> kernels{lowered(program, program[program[program.main].operations[0].op], {})};
  return emit({.prefix = "p", .kernels = &kernels, .tables = {}}, *target_named(target), {.assembly = true}).assembly;
}

TEST(EveryFew, AreNotGathered) {
  for (const char* target : {"x86-64-v3", "x86-64-v4"})
    for (int columns : {2, 3, 4}) {
      const std::string text = assembly_of(
          fmt::format("program p(X: f32[4096, {0}]) -> (Y: f32[4096]) {{ Y[i] = X[i, 0] + X[i, {0} - 1] }}", columns),
          target);
      EXPECT_EQ(text.find("gather"), std::string::npos) << columns << " on " << target;
    }
}

// Both parts of 16 complex numbers are in two whole vectors: none begins 15 cells after another.
TEST(EveryFew, CellsOfARowShareVectors) {
  const std::string text = assembly_of(
      "program p(X: f32[4096, 2]) -> (Y: f32[4096]) { Y[i] = X[i, 0] * X[i, 0] + X[i, 1] * X[i, 1] }", "x86-64-v4");
  EXPECT_NE(text.find("64(%"), std::string::npos) << text;
  EXPECT_EQ(text.find("60(%"), std::string::npos) << text;
}

// Rows of 2 to 5 cells, written whole: each vector of a row's cells is interleaved with those of the others.
TEST(EveryFew, NarrowResults) {
  for (const char* type : {"f32", "f64", "bf16", "u8", "i16", "bool"})
    for (int columns : {2, 3, 4, 5})
      for (int rows : {1, 16, 67, 200})
        expect_written_result(fmt::format("program p(X: {0}[{1}, {2}]) -> (Y: {0}[{2}, {1}]) {{ Y[i, j] = X[j, i] }}",
                                          type, columns, rows));
}

// Sums of narrow rows of results.
TEST(EveryFew, NarrowSums) {
  for (const char* type : {"f32", "f64", "i32"})
    for (int columns : {2, 3, 4})
      for (int rows : {5, 16, 67})
        expect_written_result(
            fmt::format("program p(X: {0}[{1}, 6, {2}]) -> (Y: {0}[{2}, {1}]) {{\n"
                        "    Y[i, j] = sum[k] X[j, k, i] + X[j, 5 - k, i]\n}}",
                        type, columns, rows));
}

// Each of several operations writes every second, third or fourth cell, and none of those between.
TEST(EveryFew, ResultsBetweenOthers) {
  for (const char* type : {"f32", "f64", "f16", "u8"})
    for (int step : {2, 3, 4, 5})
      for (int n : {1, 16, 67}) {
        std::string lines;
        for (int k = 0; k < step; ++k) lines += fmt::format("    Y[{0} * i + {1}] = X[i, {1}]\n", step, k);
        expect_written_result(
            fmt::format("program p(X: {0}[{1}, {2}]) -> (Y: {0}[{3}]) {{\n{4}}}", type, n, step, n * step, lines));
      }
}

TEST(EveryFew, ReversedResults) {
  for (const char* type : {"f32", "f64", "i8", "i16", "i64", "bool"})
    for (int n : {1, 2, 33, 100}) {
      expect_written_result(
          fmt::format("program p(X: {0}[{1}]) -> (Y: {0}[{1}]) {{ Y[{1} - 1 - i] = X[i] }}", type, n));
      expect_written_result(
          fmt::format("program p(X: {0}[2, {1}]) -> (Y: {0}[{2}]) {{\n"
                      "    Y[{2} - 1 - 2 * i] = X[0, i]\n    Y[{2} - 2 - 2 * i] = X[1, i]\n}}",
                      type, n, 2 * n));
    }
}

TEST(EveryFew, AreNotStoredLaneByLane) {
  for (const char* program : {"program p(X: f32[2, 4096]) -> (Y: f32[4096, 2]) { Y[i, j] = X[j, i] }",
                              "program p(X: f32[3, 4096]) -> (Y: f32[4096, 3]) { Y[i, j] = X[j, i] }",
                              "program p(X: f32[4096]) -> (Y: f32[4096]) { Y[4095 - i] = X[i] }"}) {
    const std::string text = assembly_of(program, "x86-64-v4");
    EXPECT_EQ(text.find("extractps"), std::string::npos) << program;
    EXPECT_EQ(text.find("scatter"), std::string::npos) << program;
  }
}

// Lanes along the results, not along the two cells of a window.
TEST(EveryFew, PoolingHasLanesAlongItsResults) {
  const ir::Program program = written_program(
      "program p(X: f32[64, 112, 112]) -> (Y: f32[64, 56, 56]) {\n"
      "    Y[c, i, j] = max[u in 0..2, v in 0..2] X[c, 2 * i + u, 2 * j + v]\n}");
  const Operator& op = program[program[program.main].operations[0].op];
  const auto tile = choose_tile(program, op, extents_of(op), true, reference_machine);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->dim, 2u);
  EXPECT_FALSE(tile->along_reduction);
}

}  // namespace
}  // namespace tap::backend::test
