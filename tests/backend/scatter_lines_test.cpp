// The loops of scatters. Threads that scatter to columns of a result write whole cache lines each: a line that two of them write
// moves from one to the other at each point.
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string totals(const std::string& element, int columns, int rows = 4) {
  return "program p(x: " + element + "[1000, " + std::to_string(columns) + "], to: i64[1000]) -> (y: " + element + "[" +
         std::to_string(rows) + ", " + std::to_string(columns) +
         "]) { y[j, c] = sum[i] (if to[i] == j then x[i, c] else 0) for j in 0.." + std::to_string(rows) + " }";
}

std::int64_t grain_of(const std::string& text) {
  const ir::Program program = written_program(text);
  const Kernel kernel = lowered(program, program[program[program.main].operations[0].op], {});
  EXPECT_TRUE(kernel.tile_dim);
  return kernel.grain;
}

TEST(ScatterLines, ThreadsWriteWholeLines) {
  EXPECT_EQ(grain_of(totals("f32", 64)), 16);
  EXPECT_EQ(grain_of(totals("f64", 64)), 8);
  EXPECT_EQ(grain_of(totals("i8", 200)), 64);
}

TEST(ScatterLines, GiveTheSameBits) {
  for (int columns : {1, 15, 16, 17, 40}) {
    expect_written_result(totals("f32", columns));
    expect_written_result(totals("f64", columns, 3));
  }
}

// What is printed before the loop over points: dims whose cells are no neighbours of the selected one's.
TEST(ScatterOrder, RowsBeforeTheSelectedCellGoOutsideThePoints) {
  auto loops = [](const std::string& text) {
    const ir::Program program = written_program(text);
    const std::string all = print(lowered(program, program[program[program.main].operations[0].op], {}));
    return all.substr(all.find("] = 0"));
  };
  const std::string text = loops(
      "program p(x: f32[5, 1000, 7], to: i64[1000]) -> (y: f32[5, 4, 7]) { y[b, j, c] = sum[i] (if to[i] == j then "
      "x[b, i, c] else 0) for j in 0..4 }");
  const auto b = text.find("for b in"), i = text.find("for i in"), c = text.find("for c in");
  EXPECT_LT(b, i) << text;
  EXPECT_LT(i, c) << text;
  EXPECT_NE(c, std::string::npos) << text;
}

TEST(ScatterOrder, GivesTheSameBits) {
  const char* texts[] = {
      "program p(x: {0}[3, 50, 7], to: i64[50]) -> (y: {0}[3, 4, 7]) {{ y[b, j, c] = sum[i] (if to[i] == j then x[b, "
      "i, c] "
      "else 0) for j in 0..4 }}",
      "program p(x: {0}[3, 50, 7], to: i64[50, 7]) -> (y: {0}[7, 3, 4]) {{ y[c, b, j] = sum[i] (if to[i, c] == j then "
      "x[b, i, c] else 0) for j in 0..4 }}",
      "program p(x: {0}[50, 6], to: i64[50], at: i64[50]) -> (y: {0}[4, 6, 5]) {{ y[j, c, k] = sum[i] (if to[i] == j "
      "and "
      "at[i] == k then x[i, c] else 0) for j in 0..4, k in 0..5 }}"};
  for (const char* text : texts)
    for (const char* type : {"f32", "f64", "i8"}) expect_written_result(fmt::format(fmt::runtime(text), type));
}

}  // namespace
}  // namespace tap::backend::test
