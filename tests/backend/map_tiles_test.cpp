// Vectors of maps: those inside, which check no read, those at edges, and those before a whole cache line; and reductions in
// blocks of steps. The same bits as the interpreter, at sizes around vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

std::string loops_of(const std::string& text, const LowerOptions& options = {}) {
  const ir::Program program = written_program(text);
  return print(lowered(program, program[program[program.main].operations[0].op], options));
}

constexpr int sizes[] = {1, 17, 63, 64, 80, 129};
const char* const types[] = {"f32", "i8", "f64", "bf16", "i64", "u8"};

// Every coordinate at every size; types take turns. `n`: the size of the row.
TEST(MapTiles, ReadsAtTheEdgesOfRows) {
  const char* coordinates[] = {"i - 1",   "i + 1",     "i - 3",     "n - 1 - i", "n - i", "2 * i",
                               "2*i - 5", "3*i - n/2", "5 - 2 * i", "i + 40",    "-i",    "i - 1000"};
  std::size_t turn = 0;
  for (const char* coordinate : coordinates)
    for (int n : sizes)
      expect_written_result(
          fmt::format("dim n = {1}\nprogram p(x: {0}[n]) -> (y: {0}[n]) {{ y[i] = x[i] + x[{2} else 3] * x[i - 2 else "
                      "1] for i in 0..n }}",
                      types[turn++ % std::size(types)], n, coordinate));
}

TEST(MapTiles, RowsThatAreInsideOrNot) {
  const char* expressions[] = {
      "x[i - 1, j else 0] + x[i + 1, j else 0]", "x[i - 1, j - 1 else 2] - x[i + 1, j + 1 else 1]", "x[j, i else 4]",
      "x[i + j - 3, j else 7] + x[3, j - 20 else 5]", "r[j - 2 else 0] * 2 + x[5 - i, j else 9]"};
  std::size_t turn = 0;
  for (const char* expression : expressions)
    for (int n : sizes)
      for (int rows : {1, 5})
        expect_written_result(
            fmt::format("program p(x: {0}[{1}, {2}], r: {0}[{2}]) -> (y: {0}[{1}, {2}]) {{ y[i, j] = {3} for i in "
                        "0..{1}, j in 0..{2} }}",
                        types[turn++ % std::size(types)], rows, n, expression));
}

// The first vector ends where a cache line of the result does.
TEST(MapTiles, RowsFromAnyCell) {
  std::size_t turn = 0;
  for (int from : {0, 1, 15, 16, 17, 33})
    for (int to : {64, 96, 127, 128})
      for (int n : {128, 130})
        expect_written_result(
            fmt::format("program p(x: {0}[3, {3}]) -> (y: {0}[3, {3}]) {{ y[i, j] = x[i, j] + x[i, j - 1 else 0] for i "
                        "in 0..3, j in {1}..{2}; "
                        "y[i, j] = 1 for i in 0..3, j in 0..{1}; y[i, j] = 2 for i in 0..3, j in {2}..{3} }}",
                        types[turn++ % std::size(types)], from, to, n));
}

TEST(MapTiles, VectorsInsideCheckNothing) {
  const std::string loops = loops_of(
      "program p(x: f32[100, 160]) -> (y: f32[100, 160]) { y[i, j] = x[i - 1, j + 1 else 0] for i in 0..100, j in "
      "0..160 }");
  EXPECT_NE(loops.find("t1[i, j] = t0[i - 1, j + 1]\n"), std::string::npos) << loops;
  EXPECT_NE(loops.find("t0[i - 1?, j + 1? else 0.0]"), std::string::npos) << loops;
}

// Rows that read the same cells are computed together, and those left over one by one. With windows on both dims, mirrored and
// with steps, on tensors whose rows crowd a set of the first cache, in three dims.
TEST(MapRows, WindowsAlongRows) {
  const char* expressions[] = {
      "x[i - 1, j else 0] + x[i, j] + x[i + 1, j else 0]",
      "x[i - 2, j + 1 else 3] + x[i - 1, j + 1 else 2] * x[i, j + 1 else 1] - x[i + 1, j + 1 else 2]",
      "x[h - 1 - i, j] + x[h - i, j else 5] + x[h - 2 - i, n - 1 - j else 5] + x[h - 3 - i, n - 1 - j else 5]",
      "x[2*i, j else 1] + x[2*i + 2, j else 1] + x[2*i + 4, j - 1 else 1] + x[2*i + 6, j - 1 else 1]",
      "x[i + j, j else 1] + x[i + j + 1, j else 2] + x[i + j - 1, j else 2] + r[j]"};
  std::size_t turn = 0;
  for (const char* expression : expressions)
    for (int n : sizes)
      for (int rows : {3, 4, 7, 33, 70})
        expect_written_result(fmt::format(
            "dim h = {1}, n = {2}\nprogram p(x: {0}[h, n], r: {0}[n]) -> (y: {0}[h, n]) {{ y[i, j] = {3} for i "
            "in 0..h, j in 0..n }}",
            types[turn++ % std::size(types)], rows, n, expression));
  for (const char* type : {"f32", "i16"})
    expect_written_result(fmt::format(
        "program p(x: {0}[3, 21, 70]) -> (y: {0}[3, 21, 70], z: {0}[3, 21, 70]) {{ (y[a, i, j], z[a, i, j]) = "
        "(x[a, i - 1, j else 0] + x[a, i, j] + x[a, i + 1, j else 0], x[a, i + 2, j - 1 else 1]) }}",
        type));
}

TEST(MapRows, OnlyIfTheyShareLoads) {
  auto rows_of = [](const std::string& body, int columns) {
    const std::string loops =
        loops_of(fmt::format("program p(x: f32[100, {0}], b: f32[{0}]) -> (y: f32[100, {0}]) {{ y[i, j] = {1} for i in "
                             "0..100, j in 0..{0} }}",
                             columns, body));
    return loops.find("unroll i in i0 of 4") != std::string::npos   ? 4
           : loops.find("unroll i in i0 of 2") != std::string::npos ? 2
                                                                    : 1;
  };
  const std::string column = "x[i - 1, j + 1 else 0] + x[i, j + 1 else 0] + x[i + 1, j + 1 else 0]";
  EXPECT_EQ(rows_of(column, 100), 4);
  EXPECT_EQ(rows_of(column, 1024), 2);  // of rows 4 KiB apart, more would evict each other
  EXPECT_EQ(rows_of("x[i, j - 1 else 0] + x[i, j] + x[i, j + 1 else 0]", 100), 1);
  EXPECT_EQ(rows_of("x[i, j] + b[j]", 100), 1);
  const std::string far = "x[i - 4611686018427387904, j else 0] + x[i + 4611686018427387000, j else 0]";
  EXPECT_EQ(rows_of(far, 100), 1);
  EXPECT_EQ(rows_of(far + " + " + column, 100), 4);
  EXPECT_EQ(rows_of("x[i, j] + x[i, j] * 2", 100), 1);
}

// Operands that are the same in each row are repeated; other operands keep the rows apart.
TEST(RepeatedRows, NarrowRows) {
  const char* expressions[] = {"x[i, j] + b[j]",           "x[i, j] * b[j] + c[0, j] - x[i, j]",
                               "x[i, j] + b[j] * x[i, 0]", "x[i, j] + b[j] + f[i]",
                               "x[i, j] + b[j] + c[1, 0]", "max(x[i, j], x[n - 1 - i, j]) + b[j]"};
  std::size_t turn = 0;
  for (const char* expression : expressions)
    for (int width : {2, 3, 10, 17})
      for (int rows : {31, 1701})
        expect_written_result(
            fmt::format("dim n = {1}, m = {2}\nprogram p(x: {0}[n, m], b: {0}[m], c: {0}[2, m], f: {0}[n]) -> "
                        "(y: {0}[n, m]) {{ y[i, j] = {3} }}",
                        types[turn++ % std::size(types)], rows, width, expression));
  expect_written_result(
      "program p(x: f32[3, 1500, 5], b: f32[3, 5]) -> (y: f32[3, 1500, 5], z: i8[3, 1500, 5]) "
      "{ (y[h, i, j], z[h, i, j]) = (x[h, i, j] * b[h, j], i8(b[2 - h, j])) }");
}

TEST(RepeatedRows, OnlyIfTheRestFollowsRowByRow) {
  auto is_repeated = [](const std::string& parameters, const std::string& body) {
    return loops_of("program p(x: f32[5000, 10], " + parameters + ") -> (y: f32[5000, 10]) { y[i, j] = " + body + " }")
               .find("10*i") != std::string::npos;
  };
  EXPECT_TRUE(is_repeated("b: f32[10]", "x[i, j] + b[j]"));
  EXPECT_FALSE(is_repeated("b: f32[5000]", "x[i, j] + b[i]"));
  EXPECT_FALSE(is_repeated("b: f32[10]", "x[i, 9 - j] + b[j]"));
  EXPECT_FALSE(is_repeated("b: f32[5000, 12]", "x[i, j] + b[i, j] + b[0, j]"));
}

// One cell for each row is spread along it, for a block of rows, and used for all images. The last block may be a part of one.
TEST(RepeatedRows, OneCellForEachRow) {
  const char* expressions[] = {"x[r, k, i, j] * g[k]", "max(x[r, k, i, j] * g[k] + f[k], 0)",
                               "x[r, k, i, j] * g[k] + b[j] + h[r]",
                               "x[r, k, i, j] + x[r, k, i, j] * w[k, i, j] - g[c - 1 - k]"};
  std::size_t turn = 0;
  for (const char* expression : expressions)
    for (const char* sizes : {"m = 3, n = 7", "m = 8, n = 3", "m = 1, n = 17"})
      for (int channels : {64, 83})
        for (int images : {1, 5})
          expect_written_result(fmt::format(
              "dim a = {3}, c = {2}, {1}\nprogram p(x: {0}[a, c, m, n], g: {0}[c], f: {0}[c], b: {0}[n], h: {0}[a], "
              "w: {0}[c, m, n]) -> (y: {0}[a, c, m, n]) {{ y[r, k, i, j] = {4} }}",
              types[turn++ % std::size(types)], sizes, channels, images, expression));
}

TEST(RepeatedRows, OneCellForEachRowOnlyIfUsedOften) {
  auto is_spread = [](const std::string& sizes, const std::string& body = "x[r, k, i] * g[k]") {
    return loops_of("dim " + sizes +
                    "\nprogram p(x: f32[a, c, m], g: f32[c], h: f32[a, c]) -> (y: f32[a, c, m]) { y[r, k, i] = " +
                    body + " }")
               .find("local") != std::string::npos;
  };
  EXPECT_TRUE(is_spread("a = 8, c = 64, m = 49"));
  EXPECT_FALSE(is_spread("a = 3, c = 64, m = 49"));
  EXPECT_FALSE(is_spread("a = 8, c = 7, m = 49"));
  EXPECT_FALSE(is_spread("a = 8, c = 64, m = 100"));
  EXPECT_FALSE(is_spread("a = 8, c = 64, m = 49", "x[r, k, i] * h[r, k]"));
  EXPECT_FALSE(is_spread("a = 8, c = 64, m = 49", "x[r, 63 - k, i] * g[k]"));
}

// Vectors that are full save much of short rows, and little of others: with far data, whose rows come fastest in order, not enough.
TEST(RepeatedRows, OneCellForEachRowOnlyIfItSavesEnough) {
  auto is_spread = [](int images, int cells) {
    return loops_of(fmt::format("dim a = {}, c = 256, m = {}\nprogram p(x: f32[a, c, m], g: f32[c], f: f32[c]) -> "
                                "(y: f32[a, c, m]) {{ y[r, k, i] = x[r, k, i] * g[k] + f[k] }}",
                                images, cells))
               .find("local") != std::string::npos;
  };
  EXPECT_TRUE(is_spread(4, 9));
  EXPECT_TRUE(is_spread(4, 33));
  EXPECT_FALSE(is_spread(4, 49));
  EXPECT_TRUE(is_spread(64, 9));
  EXPECT_FALSE(is_spread(64, 33));
}

// The operand takes more than the last cache. Sums of whole numbers are exact.
TEST(StepBlocks, FewRowsOfALargeOperand) {
  for (auto [rows, columns] : {std::pair{1, 2080}, {2, 2087}, {1, 6200}}) {
    const int steps = (18 << 20) / 4 / columns;
    const std::string text = fmt::format(
        "program p(a: f32[{0}, {1}], b: f32[{1}, {2}]) -> (y: f32[{0}, {2}]) {{ y[i, j] = sum[k] a[i, k] * b[k, j] }}",
        rows, steps, columns);
    EXPECT_NE(loops_of(text).find("step 8\n"), std::string::npos) << text;
    const ir::Program program = written_program(text);
    const Tensor a = whole_numbers(ElementType::f32, {rows, steps}, 1),
                 b = whole_numbers(ElementType::f32, {steps, columns}, 2);
    std::vector<double> expected(static_cast<std::size_t>(rows * columns));
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < steps; ++k)
        for (int j = 0; j < columns; ++j)
          expected[static_cast<std::size_t>(i * columns + j)] +=
              a.load_f64(i * steps + k) * b.load_f64(k * columns + j);
    for (std::uint32_t threads : {1u, 3u}) {
      ExecuteOptions options;
      options.threads = threads;
      const auto outputs = execute(program, program.main, {a, b}, options);
      for (std::size_t c = 0; c < expected.size(); ++c)
        ASSERT_EQ(outputs[0].load_f64(static_cast<std::int64_t>(c)), expected[c]) << text << ", cell " << c;
    }
  }
}

TEST(StepBlocks, NotForOperandsThatStayInTheCaches) {
  EXPECT_EQ(
      loops_of(
          "program p(a: f32[1, 500], b: f32[500, 2000]) -> (y: f32[1, 2000]) { y[i, j] = sum[k] a[i, k] * b[k, j] }")
          .find("step 8\n"),
      std::string::npos);
}

// The points of j in a tile of the group m, y of `sum`; 0 for all.
std::int64_t columns_of_tile(int columns, const std::string& sum) {
  const ir::Program program =
      written_program(fmt::format("program p(x: f32[300, 6, {0}], w: f32[16, 6, {0}]) -> (y: f32[300, {0}]) {{\n"
                                  "  m[i, j] = max[k] x[i, k, j]\n  y[i, j] = {1}\n}}",
                                  columns, sum),
                      "fuse m, y over i, j\n");
  const std::string loops = print(lowered(program, program[program[program.main].operations[0].op], {}));
  const std::string before = "for jt in lo_j..hi_j step ";
  const std::size_t at = loops.find(before);
  return at == std::string::npos ? 0 : std::stoi(loops.substr(at + before.size()));
}

// Tiles of a group divide its dims, unless that leaves much of their vectors empty: 897 = 39 * 23, and rows of 23 fill 0.7 of them.
TEST(GroupTiles, FillTheirVectors) {
  const std::string again = "sum[q, k] exp(x[i, k, j] - m[i, j]) * w[q, k, j]";  // tiles along i read w again
  EXPECT_EQ(columns_of_tile(897, again), 32);
  EXPECT_EQ(columns_of_tile(900, again), 30);
  EXPECT_EQ(columns_of_tile(1024, again), 32);
}

// Where nothing is read again, tiles are long in memory.
TEST(GroupTiles, AreLongWhereAllIsReadOnce) {
  const std::string once = "sum[k] exp(x[i, k, j] - m[i, j])";
  EXPECT_EQ(columns_of_tile(897, once), 0);
  EXPECT_EQ(columns_of_tile(5000, once), 1000);
  EXPECT_EQ(columns_of_tile(10007, once), 1024);
}

}  // namespace
}  // namespace tap::backend::test
