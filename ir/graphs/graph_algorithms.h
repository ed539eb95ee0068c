// Algorithms on one graph, implemented with Boost.Graph in graph_algorithms.cpp only.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

// By value: the operations that write it, in order, and those that read it.
struct DefUse {
  std::vector<std::vector<OperationId>> writers;  // by value
  std::vector<std::vector<OperationId>> readers;
};
DefUse def_use(const Graph& graph);

// Orders operations so that every writer of a value precedes its readers. Stable: a valid order stays. Empty if there
// is a cycle.
std::optional<std::vector<OperationId>> topological_order(const Graph& graph);

}  // namespace tap::ir
