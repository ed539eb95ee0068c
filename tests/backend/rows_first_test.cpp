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

// A step begins with the results of the step before, where rows are several tiles of whole lines and stay in the second cache.
TEST(RowsFirst, ScansOfNearRowsReadTheLastOne) {
  EXPECT_TRUE(lowers_with(scan_down("f32", 64, 1024), "= t1[i - 1, j]"));
  EXPECT_FALSE(lowers_with(scan_down("f32", 4096, 4096), "= t1[i - 1, j]")) << "from far memory";
  EXPECT_FALSE(lowers_with(scan_down("f32", 55, 1763), "= t1[i - 1, j]")) << "rows share lines";
  EXPECT_FALSE(lowers_with(scan_down("f32", 64, 256), "= t1[i - 1, j]")) << "one tile";
  EXPECT_FALSE(lowers_with(scan_down("f32", 4, 1024), "= t1[i - 1, j]")) << "in the first cache";
}

TEST(RowsFirst, ScansOfNearRowsAreThoseOfTheOracle) {
  for (const char* type : {"f32", "f64", "i32"})
    for (int columns : {784, 1040})
      for (const char* terms : {"sum[k in 0..i + 1]", "sum[k in 0..i]", "sum[k in i..61]", "sum[k in i + 1..61]",
                                "max[k in 0..i + 1]", "sum[k in 3..i + 1]", "sum[k in i..58]"})
        expect_written_result(fmt::format("program p(X: {0}[61, {1}]) -> (Y: {0}[61, {1}]) {{ Y[i, j] = {2} X[k, j] }}",
                                          type, columns, terms));
  // What is added follows two dims; of several batches; of narrow results, which are rounded.
  expect_written_result(
      "program p(X: f32[61, 1040], v: f32[61]) -> (Y: f32[61, 1040]) { Y[i, j] = sum[k in 0..i + 1] X[k, j] * v[k] }");
  expect_written_result(
      "program p(X: f64[3, 21, 784]) -> (Y: f64[3, 21, 784]) { Y[b, i, j] = sum[k in 0..i + 1] X[b, k, j] }");
  // Two components: the first maximum and its row.
  const char* maxima = R"(
    monoid first(v: i32, at: i64) {
        identity (i32.min, i64.max)
        combine (a, b) = if b.v > a.v or (b.v == a.v and b.at < a.at) then b else a
    }
    program p(X: i32[61, 784]) -> (M: i32[61, 784], A: i64[61, 784]) {
        (M[i, j], A[i, j]) = first[k in 0..i + 1] (X[k, j], k)
    })";
  EXPECT_TRUE(lowers_with(maxima, "= t1[i - 1, j]"));
  expect_written_result(maxima);
  expect_written_result("program p(X: u8[61, 4160]) -> (Y: u8[61, 4160]) { Y[i, j] = sum[k in 0..i + 1] X[k, j] }");
}

}  // namespace
}  // namespace tap::backend::test
