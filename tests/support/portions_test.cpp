#include "support/portions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace tap {
namespace {

using Ends = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Takes up to `most` portions.
Ends taken_by(const Portions& portions, std::vector<Portions::Next>& next, std::int64_t thread,
              std::size_t most = 1000) {
  Ends taken;
  for (std::int64_t begin = 0, end = 0; taken.size() < most && portions.take(next.data(), thread, &begin, &end);)
    taken.emplace_back(begin, end);
  return taken;
}

std::vector<Portions::Next> at_begin(const Portions& portions) {
  std::vector<Portions::Next> next(static_cast<std::size_t>(portions.ranges()));
  Portions::begin(next.data(), portions.ranges());
  return next;
}

// The second thread comes first, and yet each has its own tiles.
TEST(Portions, EveryThreadBeginsWithItsRange) {
  const Portions portions(16, 2, Tiles::any_work);
  std::vector<Portions::Next> next = at_begin(portions);
  EXPECT_EQ(taken_by(portions, next, 1, 4), (Ends{{8, 12}, {12, 14}, {14, 15}, {15, 16}}));
  EXPECT_EQ(taken_by(portions, next, 0, 4), (Ends{{0, 4}, {4, 6}, {6, 7}, {7, 8}}));
  EXPECT_EQ(taken_by(portions, next, 1), Ends{});
}

TEST(Portions, WhoHasNoneLeftTakesThoseOfOthers) {
  const Portions portions(16, 2, Tiles::any_work);
  std::vector<Portions::Next> next = at_begin(portions);
  EXPECT_EQ(taken_by(portions, next, 0, 1), (Ends{{0, 4}}));
  EXPECT_EQ(taken_by(portions, next, 1), (Ends{{8, 12}, {12, 14}, {14, 15}, {15, 16}, {4, 6}, {6, 7}, {7, 8}}));
}

TEST(Portions, SharesDifferByOneTile) {
  EXPECT_EQ(Portions(19, 2, Tiles::any_work).begin_of(1), 9);
  for (auto [tiles, threads] : {std::pair{3, 2}, {17, 4}, {5, 8}, {1000003, 64}}) {
    const Portions portions(tiles, threads, Tiles::any_work);
    EXPECT_EQ(portions.begin_of(0), 0);
    EXPECT_EQ(portions.begin_of(threads), tiles);
    for (std::int64_t range = 0; range < threads; ++range) {
      const std::int64_t size = portions.begin_of(range + 1) - portions.begin_of(range);
      EXPECT_GE(size, tiles / threads);
      EXPECT_LE(size, tiles / threads + 1);
    }
  }
}

// By one thread, or by all in turns; as many portions as count() says.
TEST(Portions, EveryTileIsTakenOnce) {
  for (std::int64_t tiles = 0; tiles <= 70; ++tiles)
    for (std::int64_t threads = 1; threads <= 6; ++threads)
      for (Tiles known : {Tiles::one_thread, Tiles::any_work, Tiles::equal_work})
        for (bool alone : {false, true}) {
          const Portions portions(tiles, threads, known);
          std::vector<Portions::Next> next = at_begin(portions);
          std::vector<int> times(static_cast<std::size_t>(tiles));
          std::int64_t count = 0, thread = 0;
          for (Ends one; !(one = taken_by(portions, next, thread, 1)).empty(); ++count) {
            for (std::int64_t t = one[0].first; t < one[0].second; ++t) ++times[static_cast<std::size_t>(t)];
            thread = alone ? 0 : (thread + 1) % threads;
          }
          EXPECT_EQ(count, portions.count());
          EXPECT_LE(count, 16 * threads);
          EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << tiles << " tiles, " << threads << " threads";
        }
}

TEST(Portions, AreFewerWhereTilesAreOfEqualWork) {
  const Portions any(148, 2, Tiles::any_work), equal(148, 2, Tiles::equal_work);
  std::vector<Portions::Next> of_any = at_begin(any), of_equal = at_begin(equal);
  EXPECT_EQ(taken_by(any, of_any, 0, 4), (Ends{{0, 37}, {37, 56}, {56, 66}, {66, 74}}));
  EXPECT_EQ(taken_by(equal, of_equal, 0, 3), (Ends{{0, 56}, {56, 70}, {70, 74}}));
}

// Until the last thread ends, in shares of the first: of tiles of equal work, taken by threads of these speeds.
double time_of(const Portions& portions, const std::vector<double>& speeds) {
  std::vector<Portions::Next> next = at_begin(portions);
  std::vector<double> ends(speeds.size(), 0);
  for (;;) {
    const auto free = std::min_element(ends.begin(), ends.end()) - ends.begin();
    const Ends one = taken_by(portions, next, free, 1);
    if (one.empty()) break;
    ends[static_cast<std::size_t>(free)] +=
        static_cast<double>(one[0].second - one[0].first) / speeds[static_cast<std::size_t>(free)];
  }
  return *std::max_element(ends.begin(), ends.end()) * static_cast<double>(speeds.size()) /
         static_cast<double>(portions.tiles());
}

TEST(Portions, OfEqualWorkEndTogether) {
  for (std::int64_t threads : {2, 4, 16}) {
    const Portions portions(1000 * threads, threads, Tiles::equal_work);
    std::vector<double> speeds(static_cast<std::size_t>(threads), 1.0);
    EXPECT_LT(time_of(portions, speeds), 1.01) << threads;
    speeds[0] = 0.9;
    EXPECT_LT(time_of(portions, speeds), 1.08) << threads;
    speeds[0] = 0.5;
    EXPECT_LT(time_of(portions, speeds), 1.51) << threads;
  }
}

}  // namespace
}  // namespace tap
