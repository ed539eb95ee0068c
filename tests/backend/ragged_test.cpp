// Reductions over ranges that differ by row, in register tiles, and groups that compute of their values only what those ranges
// need: the same bits as the interpreter, at sizes around tiles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops_text.h"
#include "backend/lower/lowered.h"
#include "backend/tiles/register_tile.h"
#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

struct RowRange {
  const char *from, *to;
};
constexpr RowRange ranges[] = {{"0", "i + 1"},     {"i", "n"},         {"i + 1", "n"},        {"i", "i + 3"},
                               {"2 * i", "3 * n"}, {"0", "2 * i + 1"}, {"0", "n - i"},        {"n - i", "n + 1"},
                               {"i", "2 * i + 2"}, {"0", "i"},         {"i + n", "i + n + 1"}};

// Every range with every number of rows; columns and types take turns.
TEST(Ragged, ProductsOverRangesOfRows) {
  const int columns[] = {64, 3, 21, 16, 1};
  const char* types[] = {"f32", "i32", "f64"};
  std::size_t turn = 0;
  for (const RowRange& range : ranges)
    for (int n : {1, 6, 17, 40}) {
      expect_written_result(fmt::format(
          "dim n = {1}\nprogram p(X: {0}[{1}, {4}], W: {0}[{4}, {5}]) -> (Y: {0}[{1}, {5}]) "
          "{{ Y[i, c] = sum[k in {2}..{3}] X[i, k] * W[k, c] }}",
          types[turn % 3], n, std::string(range.from), std::string(range.to), 3 * n + 3, columns[turn % 5]));
      ++turn;
    }
}

TEST(Ragged, WithOtherReductionsAroundAndInside) {
  for (const RowRange& range : ranges)
    for (int n : {19})
      expect_written_result(
          fmt::format("dim n = {0}\nprogram p(X: f32[4, {0}, {3}], W: f32[4, {3}, 3, 33]) -> (Y: f32[{0}, 33]) "
                      "{{ Y[i, c] = sum[h, k in {1}..{2}, g] X[h, i, k] * W[h, k, g, c] }}",
                      n, std::string(range.from), std::string(range.to), 3 * n + 3));
}

TEST(Ragged, RowsShareARegisterTile) {
  const ir::Program program = written_program(
      "program p(X: f32[100, 100], W: f32[100, 64]) -> (Y: f32[100, 64]) { Y[i, c] = sum[k in 0..i + 1] X[i, k] * W[k, "
      "c] }");
  const Operator& op = program[program[program.main].operations[0].op];
  EXPECT_EQ(ragged_along(op, 0), 2u);
  EXPECT_EQ(ragged_along(op, 1), std::nullopt);
  const auto tile = choose_tile(program, op, extents_of(op), true, reference_machine);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rows, 0u);
  EXPECT_GE(tile->row_count, 4u);
}

// Bounds by two dims, or by an equality, are left to single rows.
TEST(Ragged, RowsThatOtherDimsBoundStaySingle) {
  auto along = [](const char* text) {
    const ir::Program program = written_program(text);
    return ragged_along(program[program[program.main].operations[0].op], 0);
  };
  EXPECT_EQ(along("program p(X: f32[9, 9, 9]) -> (Y: f32[9, 9]) { Y[i, c] = sum[k in 0..i - c + 1] X[i, c, k] }"),
            std::nullopt);
  EXPECT_EQ(
      along("program p(X: f32[9, 9, 9]) -> (Y: f32[9, 9]) { Y[i, c] = sum[k in 0..i + 1, l in 0..i + 1] X[c, k, l] }"),
      std::nullopt);
}

// A range of rows that leaves some out bounds the loop over them, which register tiles have not.
TEST(Ragged, RowsThatAreLeftOutAreNotWritten) {
  ir::Program program = written_program(
      "program p(X: i64[12, 12], W: i64[12, 9]) -> (Y: i64[12, 9]) { Y[i, c] = sum[k in 0..i + 1] X[i, k] * W[k, c] }");
  Operator& op = program.operators[program[program.main].operations[0].op.index()];
  ASSERT_EQ(ragged_along(op, 0), 2u);
  AffineExpr from = AffineExpr::variable(op.dims.size(), 0);
  op.constraints.push_back({from});  // always true
  EXPECT_EQ(ragged_along(op, 0), 2u);
  from.offset = -5;
  op.constraints.push_back({from});
  EXPECT_EQ(ragged_along(op, 0), std::nullopt);
  Executable native(passes::expand(program), {});  // whose self-check sees what is written
}

const char* const group = R"(dim n = {0}
program p(X: f32[{0}, 8], K: f32[{1}, 8], V: f32[{1}, 5]) -> (s: f32[{0}], Y: f32[{0}, 5]) {{
    t[i, j] = sum[c] X[i, c] * K[j, c]
    m[i] = max[j in {2}..{3}] t[i, j]
    e[i, j] = t[i, j] - m[i]
    s[i] = sum[j in {2}..{3}] e[i, j]
    Y[i, c] = sum[j in {2}..{3}] e[i, j] * V[j, c]
}})";

TEST(Needed, GroupsComputeWhatRangesNeed) {
  for (const RowRange& range : ranges)
    for (int n : {7, 45})
      expect_written_result(
          fmt::format(fmt::runtime(group), n, 3 * n + 3, std::string(range.from), std::string(range.to)),
          "fuse t, m, e, s, Y over i");
}

std::string loops_of(const std::string& text, const std::string& plan) {
  const ir::Program program = written_program(text, plan);
  return print(lowered(program, program[program[program.main].operations.at(0).op], {}));
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(Needed, BoundsFollowTheReaders) {
  auto text = [](const char* result, const char* first, const char* second) {
    return fmt::format(
        "program p(X: f32[200], K: f32[200]) -> ({0}m: f32[200], s: f32[200]) {{\n"
        "t[i, j] = X[i] * K[j]\nm[i] = max[j in {1}] t[i, j]\ns[i] = sum[j in {2}] t[i, j] - m[i]\n}}",
        std::string(result), std::string(first), std::string(second));
  };
  auto bounds = [&](const char* result, const char* first, const char* second) {
    const std::string loops = loops_of(text(result, first, second), "fuse t, m, s over i");
    return std::pair(has(loops, "let from_j"), has(loops, "let to_j"));
  };
  EXPECT_EQ(bounds("", "0..i + 1", "0..i + 1"), std::pair(false, true));
  EXPECT_EQ(bounds("", "i..200", "i..200"), std::pair(true, false));
  EXPECT_EQ(bounds("", "i..i + 1", "i..i + 1"), std::pair(true, true));
  EXPECT_EQ(bounds("", "0..i + 1", "0..200"), std::pair(false, false));  // the other reads all
  EXPECT_EQ(bounds("", "0..i + 1", "i..200"), std::pair(false, false));
  EXPECT_EQ(bounds("t: f32[200, 200], ", "0..i + 1", "0..i + 1"), std::pair(false, false));  // a result, whole
}

}  // namespace
}  // namespace tap::backend::test
