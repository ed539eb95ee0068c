// tapc calibrate --mpi: pairs of devices that agree become levels of links; and the rounds in which they are measured.
#include "compiler/driver/machines/link_levels.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "compiler/driver/machines/link_trials.h"

namespace {

using namespace tap::driver;

// Devices with `each` on a node; a figure for each two of them.
Links links_for(std::int64_t devices, std::int64_t each,
                const std::function<double(std::int64_t, std::int64_t)>& latency) {
  std::vector<std::int64_t> node;
  std::vector<PairFigures> pairs;
  for (std::int64_t a = 0; a < devices; ++a) {
    node.push_back(a / each * each);
    for (std::int64_t b = a + 1; b < devices; ++b)
      pairs.push_back({a, b, {latency(a, b), 0.1}, {1e-3 / latency(a, b), 0.05}});
  }
  return links_of(node, pairs);
}

TEST(LinkLevels, PairsThatAgreeAreOneLevel) {
  const Links links = links_for(6, 6, [](auto a, auto b) { return 1e-6 + 1e-8 * static_cast<double>(a * b); });
  ASSERT_EQ(links.levels.size(), 1);
  EXPECT_EQ(links.levels[0].link.name, "node");
  EXPECT_EQ(links.levels[0].link.count, 6);
  EXPECT_EQ(links.levels[0].pairs, 15);
  EXPECT_NEAR(links.levels[0].link.latency, 1.05e-6, 1e-7);
  EXPECT_GE(links.levels[0].latency_spread, 0.1);
  EXPECT_TRUE(links.pairs.empty());
}

TEST(LinkLevels, NodesAndTheNetworkBetweenThem) {
  const Links links = links_for(8, 4, [](auto a, auto b) { return a / 4 == b / 4 ? 0.5e-6 : 5e-6; });
  ASSERT_EQ(links.levels.size(), 2);
  EXPECT_EQ(links.levels[0].link.name, "node");
  EXPECT_EQ(links.levels[0].link.count, 4);
  EXPECT_EQ(links.levels[0].link.latency, 0.5e-6);
  EXPECT_EQ(links.levels[1].link.name, "network");
  EXPECT_EQ(links.levels[1].link.count, 2);
  EXPECT_EQ(links.levels[1].link.latency, 5e-6);
  EXPECT_TRUE(links.pairs.empty());
}

TEST(LinkLevels, PairsThatDifferStayPairs) {
  // One of them is slow.
  const Links one = links_for(8, 8, [](auto a, auto b) { return a == 2 && b == 7 ? 9e-6 : 1e-6; });
  ASSERT_EQ(one.levels.size(), 1);
  ASSERT_EQ(one.pairs.size(), 1);
  EXPECT_EQ(one.pairs[0].from, 2);
  EXPECT_EQ(one.pairs[0].to, 7);
  // Devices are dealt out to two nodes in turn: no order of levels says that.
  const Links turns = links_for(6, 1, [](auto a, auto b) { return a % 2 == b % 2 ? 1e-6 : 10e-6; });
  ASSERT_EQ(turns.levels.size(), 2);
  EXPECT_EQ(turns.levels[0].link.count * turns.levels[1].link.count, 6);
  EXPECT_EQ(turns.levels[0].link.latency, 10e-6);
  EXPECT_EQ(turns.levels[1].link.latency, 10e-6);
  EXPECT_EQ(turns.pairs.size(), 6);
}

TEST(LinkLevels, OneDeviceHasNone) {
  EXPECT_TRUE(links_for(1, 1, [](auto, auto) { return 1.0; }).levels.empty());
}

TEST(Tournament, EachTwoMeetOnceAndNobodyMeetsTwoInARound) {
  for (std::int64_t players = 1; players <= 17; ++players) {
    std::set<std::pair<std::int64_t, std::int64_t>> met;
    for (std::int64_t round = 0; round < rounds_of_tournament(players); ++round)
      for (std::int64_t player = 0; player < players; ++player) {
        const std::int64_t other = opponent_in_round(players, round, player);
        if (other < 0) continue;
        EXPECT_NE(other, player);
        EXPECT_EQ(opponent_in_round(players, round, other), player);
        if (player > other) continue;
        EXPECT_TRUE(met.emplace(player, other).second) << players << " players";
      }
    EXPECT_EQ(met.size(), players * (players - 1) / 2);
  }
}

}  // namespace
