// Windows along the lanes that are unfolded: which are, and that the bits stay.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "backend/lower/unfolded_windows.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

struct Unfolding {
  const char* text;
  const char* dims;  // of the reader, with what is merged; empty: not unfolded
};

const Unfolding unfoldings[] = {
    // Images: their rows are merged.
    {"X: f32[2, 2, 30, 11], K: f32[40, 2, 3, 3]) -> (Y: f32[2, 40, 30, 11]) {"
     " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] }",
     "b, o, i_j, c, u, v"},
    {"X: f64[2, 2, 30, 11], K: f64[40, 2, 3, 3]) -> (Y: f64[2, 40, 28, 9]) {"
     " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u, j + v] * K[o, c, u, v] }",
     "b, o, i_j, c, u, v"},
    // Cells that are apart, another fill, a kernel that is turned.
    {"X: f32[3, 1, 20, 13], K: f32[33, 1, 3, 3]) -> (Y: f32[3, 33, 20, 13]) {"
     " Y[b, o, i, j] = sum[c, u, v] X[b, c, i - 2*u + 2, j - 2*v + 2 else 7] * K[o, c, u, v] }",
     "b, o, i_j, u, v"},
    // Groups of channels; another monoid.
    {"X: f32[2, 3, 2, 20, 11], K: f32[3, 20, 2, 3, 3]) -> (Y: f32[2, 3, 20, 20, 11]) {"
     " Y[b, g, o, i, j] = sum[c, u, v] X[b, g, c, i + u - 1, j + v - 1 else 0] * K[g, o, c, u, v] }",
     "b, g, o, i_j, c, u, v"},
    {"X: f32[2, 2, 30, 11], K: f32[40, 2, 3, 3]) -> (Y: f32[2, 40, 30, 11]) {"
     " Y[b, o, i, j] = max[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] + K[o, c, u, v] }",
     "b, o, i_j, c, u, v"},
    // Used by too few results; a long reduction; a window that does not move along the lanes.
    {"X: f32[2, 2, 30, 11], K: f32[4, 2, 3, 3]) -> (Y: f32[2, 4, 30, 11]) {"
     " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] }",
     ""},
    {"X: f32[2, 200, 14, 16], K: f32[64, 200, 3, 3]) -> (Y: f32[2, 64, 14, 16]) {"
     " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] }",
     ""},
    {"X: f32[2, 2, 30, 11], K: f32[40, 2, 3]) -> (Y: f32[2, 40, 30, 11]) {"
     " Y[b, o, i, j] = sum[c, u] X[b, c, i + u - 1, j else 0] * K[o, c, u] }",
     ""},
    // Read twice.
    {"X: f32[2, 2, 30, 11], K: f32[40, 2, 3, 3]) -> (Y: f32[2, 40, 30, 11]) {"
     " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] * X[b, c, i, j] }",
     ""},
};

std::optional<UnfoldedWindows> unfolded(const Program& program, const Operator& op) {
  return unfold_windows(program, op, extents_of(op), std::vector<bool>(op.operands.size()), false, reference_machine);
}
const Operator& unfolded_operator(const Program& program) { return program[program[program.main].operations.at(0).op]; }

TEST(UnfoldedWindows, WhereReductionsAreShort) {
  for (const Unfolding& u : unfoldings) {
    const Program program = written_program(std::string("program p(") + u.text);
    const auto found = unfolded(program, unfolded_operator(program));
    std::string names;
    for (std::size_t d = 0; found && d < found->op.dims.size(); ++d)
      names += (d == 0 ? "" : ", ") + found->op.op.dims[d].name;
    EXPECT_EQ(names, u.dims) << u.text;
  }
}

TEST(UnfoldedWindows, BitsAreThoseOfTheOracle) {
  for (const Unfolding& u : unfoldings) expect_written_result(std::string("program p(") + u.text);
  // One image: threads divide its rows.
  expect_written_result(
      "program p(X: f32[1, 2, 61, 11], const K: f32[40, 2, 3, 3]) -> (Y: f32[1, 40, 61, 11]) {"
      " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] }");
  // Ten: threads divide them.
  expect_written_result(
      "program p(X: f32[10, 2, 9, 11], const K: f32[40, 2, 3, 3]) -> (Y: f32[10, 40, 9, 11]) {"
      " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] }");
}

// An infinite weight meets the fill as before, and nothing else.
TEST(UnfoldedWindows, KeepWhatTheFillDoes) {
  const Program program = written_program(std::string("program p(") + unfoldings[0].text);
  std::vector<Tensor> inputs = whole_inputs(program);
  inputs[1].store_f64(5, std::numeric_limits<double>::infinity());
  inputs[0].store_f64(100, std::numeric_limits<double>::quiet_NaN());
  expect_same_bits(execute(program, program.main, inputs), interpret(program, program.main, inputs).outputs, "inf");
}

TEST(UnfoldedWindows, CallsDivideWhatIsCopiedOnce) {
  auto text = [](int images, int rows) {
    return fmt::format(
        "program p(X: f32[{0}, 2, {1}, 11], const K: f32[66, 2, 3, 3]) -> (Y: f32[{0}, 66, {1}, 11]) {{"
        " Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v] }}",
        images, rows);
  };
  for (auto [images, rows, dim] : {std::tuple{8, 107, 0}, {2, 107, 2}, {8, 20, 0}}) {
    const Program program = written_program(text(images, rows));
    EXPECT_EQ(lowered(program, unfolded_operator(program), {}).tile_dim, static_cast<std::size_t>(dim))
        << images << " images of " << rows << " rows";
  }
}

}  // namespace
}  // namespace tap::backend::test
