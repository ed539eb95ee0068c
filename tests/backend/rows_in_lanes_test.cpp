// Maps at the end of reductions along lanes: with the rows in lanes, if they cost more than a store and a load.
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

struct RowsEnding {
  std::string map;
  bool in_lanes;
};

std::string rows_text(const RowsEnding& c, const std::string& type, int rows, int terms) {
  const std::string n = std::to_string(rows), m = std::to_string(terms);
  return "program p(x: " + type + "[" + n + ", " + m + "], w: " + type + "[" + m + "], b: " + type + "[" + n +
         "]) -> (y: " + type + "[" + n + "]) {\n  z[i] = sum[k] x[i, k] * w[k]\n  y[i] = " + c.map + "\n}";
}

const RowsEnding rows_endings[] = {
    {"sigmoid(z[i] + b[i])", true},
    {"(z[i] - b[i]) / (b[i] * b[i] + 1)", true},
    {"if z[i] > 0 then exp(-z[i]) / 2 else b[i]", true},
    {"z[i] + b[i]", false},
    {"max(z[i], 0)", false},
};

const std::string fused_rows = "fuse z, y over i\n";

// As the operations give one by one, in lanes of their own: the interpreter's exp may differ by a rounding.
void expect_fused_as_separate(const std::string& text, const std::string& plan) {
  const ir::Program written = written_program(text), fused = written_program(text, plan);
  const std::vector<Tensor> inputs = whole_inputs(written);
  const auto separate = execute(written, written.main, inputs, {});
  for (std::uint32_t threads : {1u, 3u}) {
    ExecuteOptions options;
    options.threads = threads;
    expect_same_bits(execute(fused, fused.main, inputs, options), separate,
                     fmt::format("{}, {} threads", text, threads));
  }
}

TEST(RowsInLanes, OnlyIfTheMapIsWorthIt) {
  for (const RowsEnding& c : rows_endings) {
    const ir::Program program = written_program(rows_text(c, "f32", 1000, 22), fused_rows);
    const std::string loops = print(lowered(program, program[program[program.main].operations[0].op], {}));
    EXPECT_EQ(loops.find("lanes i in") != std::string::npos, c.in_lanes) << c.map << "\n" << loops;
  }
}

// Rows that fill no vector, and any number that is left over.
TEST(RowsInLanes, GiveTheSameBits) {
  for (const RowsEnding& c : rows_endings)
    for (const char* type : {"f32", "f64"})
      for (int rows : {1, 3, 4, 5, 15, 16, 23, 40}) expect_fused_as_separate(rows_text(c, type, rows, 22), fused_rows);
}

TEST(RowsInLanes, AnyNumberIsLeftOver) {
  const RowsEnding& c = rows_endings[1];
  for (int rows = 1; rows <= 40; ++rows) expect_fused_as_separate(rows_text(c, "f32", rows, 22), fused_rows);
}

// With an outer dim and a result that is stored, too; with results of two reductions.
TEST(RowsInLanes, OfOtherReductions) {
  expect_fused_as_separate(
      "program p(x: f32[5, 23, 40]) -> (y: f32[5, 23], z: f32[5, 23]) {\n  z[b, i] = sum[k] x[b, i, k]\n"
      "  y[b, i] = exp(-z[b, i] * z[b, i]) / 3\n}",
      "fuse z, y over b, i\n");
  expect_fused_as_separate(
      "program p(x: f32[23, 40]) -> (y: f32[23]) {\n  m[i] = max[k] x[i, k]\n  s[i] = sum[k] x[i, k]\n"
      "  y[i] = exp(m[i] - s[i]) / (m[i] + 2)\n}",
      "fuse m, s, y over i\n");
}

}  // namespace
}  // namespace tap::backend::test
