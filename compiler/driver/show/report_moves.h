// What a transfer moves, from boxes alone: a device receives the cells that it needs and does not hold.
//
//   Y.partial, k over model        each device holds one of two partials
//   Y.partial.moved, all of it     each needs both: 96 bytes over model
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/graphs/graph_algorithms.h"

namespace tap::driver {

struct MovedBytes {
  std::string kind;               // all_gather: for people
  std::int64_t bytes = 0;         // that the busiest device receives
  std::int64_t devices = 0;       // how many were looked at
  std::int64_t all_devices = 0;   // of how many
  std::vector<std::string> axes;  // mesh axes over which some device has what another one needs
};

// Pre: the operation is a transfer of the graph; `uses` are the graph's.
MovedBytes moved_bytes(const ir::Program& program, const ir::Graph& graph, const ir::DefUse& uses,
                       const ir::Operation& transfer);

}  // namespace tap::driver
