// Convolutions of few channels: the reduction is so short that storing the results takes much of the time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/tiles/register_tile.h"
#include "ir/graph.h"
#include "tests/backend/written_result.h"
#include "tests/frontend/compile_source.h"

namespace tap::backend::test {
namespace {

struct Planes {
  int images, channels, rows, columns, results;
  const char* type = "f32";
};

std::string few_channels(const Planes& v) {
  return fmt::format(
      "program p(X: {5}[{0}, {1}, {2}, {3}], const K: {5}[{4}, {1}, 3, 3]) -> (Y: {5}[{0}, {4}, {2}, {3}]) {{\n"
      "    Y[b, o, i, j] = sum[c, u, v] X[b, c, i + u - 1, j + v - 1 else 0] * K[o, c, u, v]\n}}\n",
      v.images, v.channels, v.rows, v.columns, v.results, v.type);
}

RegisterTile few_channels_tile(const Planes& planes) {
  const Program program = written_program(few_channels(planes));
  const Operator& op = program[program[program.main].operations.at(0).op];
  return choose_tile(program, op, extents_of(op), true, reference_machine, {false, true}).value();
}

// Lanes are, or, along the channels of the results, rows: these are transposed in registers. Else each cell is stored alone.
TEST(FewChannels, StoresHaveSeveralCells) {
  for (const Planes& planes :
       {Planes{8, 1, 107, 11, 66}, {8, 2, 107, 11, 66}, {8, 4, 107, 11, 66}, {4, 2, 7, 7, 512}}) {
    const RegisterTile tile = few_channels_tile(planes);
    EXPECT_TRUE(tile.dim == 3 || tile.rows == 3u) << planes.channels << ": lanes along " << tile.dim;
  }
}

// Planes of 4 KiB: the lines of 16 channels share a set of the first cache.
TEST(FewChannels, LanesRunAlongTheImageWherePlanesShareASet) {
  for (const Planes& planes : {Planes{16, 3, 32, 32, 64}, {8, 3, 224, 224, 64}})
    EXPECT_EQ(few_channels_tile(planes).dim, 3u) << planes.columns;
}

TEST(FewChannels, BitsAreThoseOfTheOracle) {
  for (const Planes& planes : {Planes{2, 2, 19, 11, 35}, {3, 1, 5, 14, 66}, {1, 3, 9, 17, 20}, {2, 2, 7, 7, 40, "f64"}})
    expect_written_result(few_channels(planes));
}

}  // namespace
}  // namespace tap::backend::test
