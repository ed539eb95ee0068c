// Along which dim threads share a kernel's call, and how many points are worth a part of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

Kernel shared_kernel(const std::string& text) {
  const ir::Program program = written_program(text);
  return lowered(program, program[program[program.main].operations[0].op], {});
}

std::string cut(const std::string& text) {
  const Kernel kernel = shared_kernel(text);
  return kernel.tile_dim ? kernel.variables[kernel.at(*kernel.tile_dim)] : "";
}

std::string images(int count, int channels, int size) {
  return fmt::format(
      "dim a = {}, c = {}, n = {}\nprogram p(x: f32[a, c, n, n], g: f32[c]) -> (y: f32[a, c, n, n]) "
      "{{ y[r, k, i, j] = x[r, k, i, j] * g[k] }}",
      count, channels, size);
}

// Not pieces of a row of 32 cells in turns.
TEST(PartsOfCalls, LieTogetherInMemory) {
  EXPECT_EQ(cut(images(2, 16, 32)), "r");
  EXPECT_EQ(cut(images(32, 64, 56)), "k");
  EXPECT_EQ(cut(images(64, 256, 7)), "r");
  EXPECT_EQ(cut(images(3, 4, 512)), "i");
}

// Rows of the result, columns of the operand: neither lies together.
TEST(PartsOfCalls, OfATransposeAreAlongTheLargerDim) {
  EXPECT_EQ(cut("program p(x: f32[100, 5000]) -> (y: f32[5000, 100]) { y[i, j] = x[j, i] }"), "i");
  EXPECT_EQ(cut("program p(x: f32[5000, 100]) -> (y: f32[100, 5000]) { y[i, j] = x[j, i] }"), "j");
}

std::string convolution(int count, int size) {
  return fmt::format(
      "program p(x: f32[{0}, 64, {1}, {1}], w: f32[64, 64, 3, 3]) -> (y: f32[{0}, 64, {1}, {1}]) "
      "{{ y[b, o, i, j] = sum[c, u, v] x[b, c, i + u - 1, j + v - 1 else 0] * w[o, c, u, v] }}",
      count, size);
}

// Parts along the channels of the result would copy the windows of all images again. A single image has no other dim but rows.
TEST(PartsOfCalls, OfAReductionReadLittleAgain) {
  EXPECT_EQ(cut(convolution(32, 56)), "b");
  EXPECT_EQ(cut(convolution(1, 224)), "i");
  EXPECT_EQ(cut("program p(x: f32[384, 384, 384], w: f32[24, 384]) -> (y: f32[24, 384, 384]) "
                "{ y[c, b, a] = sum[d] x[a, d, b] * w[c, d] }"),
            "a");
}

// Lanes along the channels would leave one or two parts for all threads.
TEST(PartsOfCalls, OfAReductionAreMany) {
  auto image = [](int channels, int height, int width, int filters, int window) {
    return fmt::format(
        "program p(x: f32[1, {0}, {1}, {2}], w: f32[{3}, {0}, {4}, {4}]) -> (y: f32[1, {3}, {1}, {2}]) "
        "{{ y[b, o, i, j] = sum[c, u, v] x[b, c, i + u - {5}, j + v - {5} else 0] * w[o, c, u, v] }}",
        channels, height, width, filters, window, window / 2);
  };
  EXPECT_EQ(cut(image(248, 16, 30, 32, 3)), "i");
  EXPECT_EQ(cut(image(64, 56, 56, 64, 3)), "i");
  EXPECT_EQ(cut(image(200, 20, 20, 40, 5)), "i");
  EXPECT_EQ(cut(image(512, 7, 7, 512, 3)), "o");
}

// Of few rows and a large operand, columns.
TEST(PartsOfCalls, OfAProductAreAlongTheLargerResultDim) {
  auto product = [](int m, int k, int n) {
    return fmt::format(
        "program p(a: f32[{0}, {1}], b: f32[{1}, {2}]) -> (c: f32[{0}, {2}]) {{ c[i, j] = sum[t] a[i, t] * b[t, j] }}",
        m, k, n);
  };
  EXPECT_EQ(cut(product(512, 512, 512)), "i");
  EXPECT_EQ(cut(product(64, 4096, 4096)), "j");
  EXPECT_EQ(cut(product(4096, 4096, 8)), "i");
}

std::int64_t points_worth_a_part(const std::string& expression) {
  const Kernel kernel = shared_kernel("program p(x: f32[100000]) -> (y: f32[100000]) { y[i] = " + expression + " }");
  return kernel.worth * kernel.grain;
}

TEST(PartsOfCalls, HaveFewerPointsIfAPointIsMoreWork) {
  EXPECT_EQ(points_worth_a_part("2 * x[i] + 1"), 1 << 16);
  EXPECT_LT(points_worth_a_part("x[i] * (1 + erf(x[i]))"), 24000);
  EXPECT_LT(points_worth_a_part("exp(x[i]) * sin(x[i])"), 12000);
}

}  // namespace
}  // namespace tap::backend::test
