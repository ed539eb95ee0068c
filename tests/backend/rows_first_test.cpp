// Products of few terms: a block of columns for all rows, then the next. And scans of short rows, in one piece.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string product_of_few_terms(const char* type, int m, int n, int k) {
  return fmt::format(
      "program p(A: {0}[{1}, {3}], B: {0}[{3}, {2}]) -> (C: {0}[{1}, {2}]) {{ C[i, j] = sum[k] A[i, k] * B[k, j] }}",
      type, m, n, k);
}
std::string scan_down(const char* type, int m, int n) {
  return fmt::format("program p(X: {0}[{1}, {2}]) -> (Y: {0}[{1}, {2}]) {{ Y[i, j] = sum[k in 0..i + 1] X[k, j] }}",
                     type, m, n);
}
bool lowers_with(const std::string& text, const char* part) {
  const ir::Program program = written_program(text);
  const Kernel kernel = lowered(program, program[program[program.main].operations[0].op], {});
  return print(kernel).find(part) != std::string::npos;
}

TEST(RowsFirst, ColumnsStayInTheFirstCache) {
  EXPECT_TRUE(lowers_with(product_of_few_terms("f32", 214, 8152, 7), "for jc in lo_j..hi_j step "));
  EXPECT_FALSE(lowers_with(product_of_few_terms("f32", 214, 1000, 7), "for jc in"));  // all of them do
}

TEST(RowsFirst, AtSizesAroundBlocks) {
  for (const char* type : {"f32", "f64", "i32"})
    for (int k : {1, 3, 12})
      for (int n : {4096, 5001}) expect_written_result(product_of_few_terms(type, 67, n, k));
}

// Nothing is read along the lanes.
TEST(RowsFirst, WhereAllColumnsAreEqual) {
  expect_written_result("program p(A: f32[70, 5]) -> (C: f32[70, 4100]) { C[i, j] = sum[k] A[i, k] }");
}

TEST(RowsFirst, ShortRowsOfScansAreOnePiece) {
  EXPECT_TRUE(lowers_with(scan_down("f32", 500, 83), "unroll v in 0 of 6"));
  EXPECT_TRUE(lowers_with(scan_down("f32", 500, 192), "unroll v in 0 of 8"));  // rows of whole lines share none
  for (const char* type : {"f32", "f64", "i64", "i8"})
    for (int n : {2, 17, 83, 130, 255}) expect_written_result(scan_down(type, 21, n));
}

}  // namespace
}  // namespace tap::backend::test
