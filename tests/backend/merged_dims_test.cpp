// Dims that pass through memory together are merged, others are not; and the kernels compute the same, in one call and in parts.
#include <fmt/format.h>

#include "backend/lower/lowered.h"
#include "backend/lower/merged_dims.h"
#include "ir/graph.h"
#include "tests/backend/compare.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

struct Case {
  const char* text;    // of a program with one operation
  const char* merged;  // its dims; empty if none are merged
};

const Case cases[] = {
    {"x: f32[5, 6, 7, 7], a: f32[6]) -> (y: f32[5, 6, 7, 7]) { y[n, c, h, w] = x[n, c, h, w] * a[c] }", "n, c, h_w"},
    {"x: f32[5, 6, 7]) -> (y: f32[5, 6, 7]) { y[i, j, k] = x[i, j, k] * 2 }", "i_j_k"},
    {"x: i8[50, 3], b: i8[3]) -> (y: i8[50, 3]) { y[i, j] = x[i, j] + b[j] }", ""},
    {"x: f64[9, 4]) -> (y: f64[4, 9]) { y[j, i] = x[i, j] }", ""},
    {"x: f64[9, 4], z: f64[4, 9]) -> (y: f64[9, 4]) { y[i, j] = x[i, j] + z[j, i] }", ""},
    {"x: f64[9, 4]) -> (y: f64[9, 4]) { y[i, j] = x[i, j] + f64(j) }", ""},
    {"x: f64[9, 4]) -> (y: f64[9, 4]) { y[i, j] = x[i - 1, j else 5] + x[i, j] }", "i_j"},
    {"x: f64[9, 4]) -> (y: f64[9, 4]) { y[i, j] = x[i, j - 1 else 5] + x[i, j] }", ""},
    {"x: f64[9, 4]) -> (y: f64[9, 2]) { y[i, j] = x[i, j] }", ""},
    // Counted in cells, this is a multiple of 2 to the 64th.
    {"x: f64[9, 4]) -> (y: f64[9, 4]) { y[i, j] = x[i - 4611686018427387904, j else 5] for i in 0..9, j in 0..4 }", ""},
    {"x: f64[9, 4]) -> (y: f64[7, 4]) { y[i, j] = x[i + 2, j] }", "i_j"},
    {"x: f64[5, 4, 3]) -> (y: f64[5]) { y[i] = sum[j, k] x[i, j, k] }", "i, j_k"},
    {"x: f64[5, 4, 3]) -> (y: f64[5]) { y[i] = sum[k, j] x[i, j, k] }", ""},
    {"x: f64[5, 4, 3]) -> (y: f64[4]) { y[j] = sum[i, k] x[i, j, k] }", ""},
    {"x: f32[2, 9, 8], w: f32[8, 5]) -> (y: f32[2, 9, 5]) { y[b, s, o] = sum[k] x[b, s, k] * w[k, o] }", "b_s, o, k"},
    {"x: f32[2, 8, 9, 1, 5], w: f32[7, 8, 1, 1]) -> (y: f32[2, 7, 9, 1, 5]) {"
     " y[n, o, h, d, w] = sum[c, u, v] x[n, c, h + u, d, w + v] * w[o, c, u, v] }",
     "n, o, h_w, c"},
    {"x: f32[6, 4], at: i32[6, 4]) -> (y: f32[6, 4]) { y[i, j] = x[i, at[i, j] else 0] }", ""},
    {"x: i32[6, 4], d: i32[6, 4]) -> (y: i32[6, 4]) { y[i, j] = x[i, j] / (d[i, j] * d[i, j] + 1) }", ""},
    {"x: f32[6, 4, 5]) -> (y: f32[6, 4, 5]) { y[i, j, k] = sum[u in 0..k + 1] x[i, j, u] }", "i_j, k, u"},
    {"x: f32[4, 3, 1024]) -> (y: f32[4, 3, 1024]) { y[i, j, k] = -x[i, j, k] }", "i_j, k"},
};

ir::Program program_of(const Case& c) {
  auto outcome = tap::test::compile_text(std::string("program p(") + c.text);
  if (!outcome.compiled) throw std::runtime_error(std::string(c.text) + outcome.messages);
  return outcome.compiled->program;
}
const Operator& only_operator(const ir::Program& program) { return program[program[program.main].operations.at(0).op]; }

TEST(MergedDims, PassThroughMemoryTogether) {
  for (const Case& c : cases) {
    const ir::Program program = program_of(c);
    const Operator& op = only_operator(program);
    const auto merged = merge_dims(program, op, extents_of(op), {});
    std::string names;
    for (std::size_t d = 0; merged && d < merged->dims.size(); ++d)
      names += (d == 0 ? "" : ", ") + merged->op.dims[d].name;
    EXPECT_EQ(names, c.merged) << c.text;
  }
}

// A box that is cut anywhere is not contiguous, and a constant that is packed keeps its dims.
TEST(MergedDims, NeedWholeBoxes) {
  const Case& c = cases[0];
  const ir::Program program = program_of(c);
  const Operator& op = only_operator(program);
  Extents extents = extents_of(op);
  extents.exact[3] = false;
  EXPECT_FALSE(merge_dims(program, op, extents, {}));
  EXPECT_FALSE(merge_dims(program, op, extents_of(op), {true, false}));
  EXPECT_TRUE(merge_dims(program, op, extents_of(op), {false, true}));
}

TEST(MergedDims, ComputeTheSameInParts) {
  for (const Case& c : cases) {
    const ir::Program program = program_of(c);
    std::vector<Tensor> inputs;
    for (ValueId v : program[program.main].inputs) {
      const ir::TensorType& type = program[program.main][v].type;
      inputs.push_back(whole_numbers(type.element, type.shape, static_cast<int>(inputs.size()) + 3));
    }
    const auto expected = interpret(program, program.main, inputs).outputs;
    for (std::size_t threads : {1, 3}) {
      ExecuteOptions options;
      options.threads = threads;
      expect_same_bits(executable(program, {}, options).run(inputs), expected, c.text);
    }
  }
}

}  // namespace
}  // namespace tap::backend::test
