// Measures messages between the processes of an MPI job, each of which stands for one device.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/driver/machines/link_levels.h"

namespace tap::driver {

class MpiHost;

// The pairs of a tournament, in rounds: each two of `players` meet once, and no player meets two in one round. The opponent of
// `player` in a round, or -1.
std::int64_t rounds_of_tournament(std::int64_t players);
std::int64_t opponent_in_round(std::int64_t players, std::int64_t round, std::int64_t player);

// The time until a small message has arrived, and how much longer one of many bytes takes, between each two processes, for about
// `seconds` in all: all pairs of a round at the same time, as in a collective. All processes call it; the first one has the result.
std::vector<PairFigures> measure_links(const MpiHost& host, double seconds);

}  // namespace tap::driver
