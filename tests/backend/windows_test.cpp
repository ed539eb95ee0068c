// Windows that are copied one after another: how much of the reduction one has, and what is fetched for the next one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/loops/loops.h"
#include "backend/lower/lowered.h"
#include "backend/tiles/packing.h"
#include "backend/tiles/register_tile.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

// Images of n x n cells; the distances between windows, and between the cells of one.
struct Images {
  int images, channels, n, results;
  int stride = 1, apart = 1;
};

Program convolution(const Images& v) {
  const int rows = (v.n - 1) / v.stride + 1;
  auto outcome = tap::test::compile_text(fmt::format(
      "program p(X: f32[{0}, {1}, {2}, {2}], const K: f32[{3}, {1}, 3, 3]) -> (Y: f32[{0}, {3}, {4}, {4}]) {{\n"
      "    Y[b, o, i, j] = sum[c, u, v] X[b, c, {5}*i + {6}*u - {6}, {5}*j + {6}*v - {6} else 0] * K[o, c, u, v]\n}}\n",
      v.images, v.channels, v.n, v.results, rows, v.stride, v.apart));
  if (!outcome.compiled) throw std::runtime_error(outcome.messages);
  return outcome.compiled->program;
}
const Operator& convolution_of(const Program& program) { return program[program[program.main].operations.at(0).op]; }

Packing packing_for(const Images& images) {
  const Program program = convolution(images);
  const Operator& op = convolution_of(program);
  const Extents extents = extents_of(op);
  const RegisterTile tile = choose_tile(program, op, extents, true, reference_machine).value();
  EXPECT_EQ(tile.dim, 1u) << "lanes along the results' channels";
  return choose_packing(op, tile, extents, true, reference_machine, {false, true}).value_or(Packing());
}
std::string loops_for(const Images& images) {
  const Program program = convolution(images);
  return print(lowered(program, convolution_of(program), {}));
}
std::ptrdiff_t occurrences(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Windows, AreNotCutWhileTheyStayNear) {
  for (const Images& images : {Images{32, 128, 28, 128}, {32, 256, 14, 256}, {8, 512, 14, 512}, {4, 256, 56, 256}}) {
    const Packing packing = packing_for(images);
    EXPECT_EQ(packing.windows.size(), 1u) << images.channels;
    EXPECT_FALSE(packing.chunked) << images.channels << ": results would be loaded and stored again";
    EXPECT_GE(packing.lane_block, images.results < 512 ? images.results : 1)
        << images.channels << ": windows would be copied again";
    EXPECT_GE(packing.row_block, images.n);
  }
}

TEST(Windows, AreCutIfTheyWouldNotStayNear) {
  const Packing packing = packing_for({1, 1024, 112, 64});
  EXPECT_EQ(packing.windows.size(), 1u);
  ASSERT_TRUE(packing.chunked);
  EXPECT_LE(packing.chunk * 3 * 114 * 4, reference_machine.l2_bytes / 4);
}

TEST(Windows, TheNextOnesRowIsFetched) {
  const std::string loops = loops_for({32, 128, 28, 128});
  EXPECT_EQ(occurrences(loops, "fetch t0[b, c, hi_u + i - 1, lo_v + j0 - 1]"), 1) << loops;
  EXPECT_EQ(occurrences(loops, "fetch t0[b, c, hi_u + i - 1, hi_v + j0 + 11]"), 1) << loops;
  EXPECT_EQ(occurrences(loops, "fetch t0"), 2) << loops;
}

TEST(Windows, SeveralNewRowsAreFetched) {
  const std::string loops = loops_for({32, 128, 56, 128, 2});
  for (const char* row : {"hi_u + 2*i", "hi_u + 2*i - 1"})
    EXPECT_GE(occurrences(loops, fmt::format("fetch t0[b, c, {}, ", row)), 2) << loops;
}

TEST(Windows, OfAnImageThatIsNearAreNotFetched) { EXPECT_EQ(occurrences(loops_for({1, 64, 28, 64}), "fetch t0"), 0); }

TEST(Windows, ResultsOfATileAreFetchedRowByRow) {
  const std::string loops = loops_for({32, 128, 28, 128});
  EXPECT_EQ(occurrences(loops, "fetch t2[b, o, i, j0]"), 1) << loops;
  EXPECT_EQ(occurrences(loops, "fetch t2[b, o, i, j0 + 13]"), 1) << loops;
}

// Whatever the tile's lanes: copying by two cells took most of the time.
TEST(Windows, OfFewResultsAreCopiedByWholeVectors) {
  const std::string loops = loops_for({3, 243, 36, 2, 2});
  const auto copy = loops.find("[w, w_1, w_2, w_3] = t0[");
  ASSERT_NE(copy, std::string::npos) << loops;
  const std::string loop = loops.substr(loops.rfind("lanes w_3", copy), 60);
  EXPECT_NE(loop.find(" of 16\n"), std::string::npos) << loops;
}

// Of one block and of several; strides, and cells that are apart; images and rows shared by threads.
TEST(Windows, BitsAreThoseOfTheOracle) {
  Machine machine = reference_machine;
  machine.l2_bytes = 128 << 10;
  for (const Images& images : {Images{2, 30, 26, 18},
                               {1, 100, 24, 17},
                               {1, 12, 71, 33, 2},
                               {1, 12, 60, 18, 1, 2},
                               {1, 9, 80, 16, 3},
                               {3, 60, 36, 2, 2}})
    expect_native_is_oracle_on(machine, convolution(images), fmt::format("{} channels", images.channels));
}

}  // namespace
}  // namespace tap::backend::test
