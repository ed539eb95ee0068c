// Algorithms on one graph, implemented with Boost.Graph in graph_algorithms.cpp only.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace tap::ir {

// The operations that write a value, in order; and those that read it.
struct DefUse {
  std::vector<std::vector<OperationId>> writers;  // by value
  std::vector<std::vector<OperationId>> readers;
};
DefUse def_use(const Graph& graph);

// Operations so that every writer of a value comes before its readers. Stable: an order that is right already stays.
// Empty if there is a cycle (then find_cycle has it).
std::optional<std::vector<OperationId>> topological_order(const Graph& graph);
std::vector<OperationId> find_cycle(const Graph& graph);

// The immediate dominator of each operation on the way from the inputs (an invalid id: the entry itself).
// Pre: no cycle.
std::vector<OperationId> dominators(const Graph& graph);

// Without operations whose results reach no output. Ids are renumbered, order kept.
Graph without_dead_code(const Graph& graph);
// Operations with equal operators (by structure), operands and result coverage are made one; values of many writers where
// all their writers match. What is annotated (group, barrier, split) stays, and outputs keep their names.
Graph without_common_subexpressions(const Program& program, const Graph& graph);

}  // namespace tap::ir
