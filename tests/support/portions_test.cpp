// Portions of a batch's tiles: their sizes, and how long threads of different speeds take.
#include "support/portions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tap {
namespace {

std::vector<int64_t> sizes(const Portions& portions) {
  std::vector<int64_t> found;
  for (int64_t at = 0; at < portions.tiles(); at = portions.end_of(at)) found.push_back(portions.end_of(at) - at);
  return found;
}

// Until the last thread ends, in shares of the first: of tiles of equal work, taken by threads of these speeds.
double time_of(const Portions& portions, const std::vector<double>& speeds) {
  std::vector<double> ends(speeds.size(), 0);
  for (int64_t size : sizes(portions)) {
    const auto free = std::min_element(ends.begin(), ends.end()) - ends.begin();
    ends[free] += static_cast<double>(size) / speeds[free];
  }
  return *std::max_element(ends.begin(), ends.end()) * static_cast<double>(speeds.size()) /
         static_cast<double>(portions.tiles());
}

TEST(Portions, AreFewerWhereTilesAreOfEqualWork) {
  EXPECT_EQ(sizes({148, 2, Tiles::any_work}), (std::vector<int64_t>{37, 27, 21, 15, 12, 10, 10, 10, 6}));
  EXPECT_EQ(sizes({148, 2, Tiles::equal_work}), (std::vector<int64_t>{55, 55, 14, 14, 5, 5}));
  EXPECT_EQ(sizes({148, 1, Tiles::one_thread}), (std::vector<int64_t>{148}));
}

TEST(Portions, CoverAllTiles) {
  for (Tiles known : {Tiles::one_thread, Tiles::any_work, Tiles::equal_work})
    for (int64_t threads : {1, 2, 3, 7, 64, 4096})
      for (int64_t tiles : {0, 1, 2, 3, 7, 8, 63, 64, 65, 148, 1000, 100001}) {
        const Portions portions(tiles, known == Tiles::one_thread ? 1 : threads, known);
        int64_t sum = 0;
        for (int64_t size : sizes(portions)) {
          EXPECT_GT(size, 0);
          sum += size;
        }
        EXPECT_EQ(sum, tiles);
        EXPECT_EQ(portions.count(), static_cast<int64_t>(sizes(portions).size()));
        EXPECT_LE(portions.count(), 16 * threads);
      }
}

TEST(Portions, OfEqualWorkEndTogether) {
  for (int64_t threads : {2, 4, 16}) {
    const Portions portions(1000 * threads, threads, Tiles::equal_work);
    std::vector<double> speeds(threads, 1.0);
    EXPECT_LT(time_of(portions, speeds), 1.01) << threads;
    speeds[0] = 0.9;
    EXPECT_LT(time_of(portions, speeds), 1.08) << threads;
    speeds[0] = 0.5;
    EXPECT_LT(time_of(portions, speeds), 1.51) << threads;
  }
}

}  // namespace
}  // namespace tap
