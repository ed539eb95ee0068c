// Rebuilds a graph from a subset of its operations: shared by dead code and common subexpression elimination.
#pragma once

#include <utility>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

// What stays, by id; and for each value that goes, its replacement (itself if it has none).
struct Selection {
  std::vector<bool> operations;
  std::vector<bool> values;
  std::vector<ValueId> replacement;

  explicit Selection(const Graph& graph, bool keep);
};

// The graph of what stays, renumbered, in the same order. References to values that go without a replacement are
// dropped: values leave their sharding groups, and barriers and the splits of removed operations go.
// Pre: inputs, outputs, and operands and results of operations that stay are kept or have a replacement that is kept.
Graph rebuild(const Graph& graph, const Selection& selection);

// What stays of a graph without dead code, or without common subexpressions (graph_algorithms.h).
Selection alive_part(const Graph& graph);
struct SharedPart {
  Selection selection;
  std::vector<std::pair<OperationId, OperationId>> equal;  // kept and gone, in an order in which each follows from the
                                                           // ones before
  std::vector<std::pair<ValueId, ValueId>> takes_name;     // a value that stays has from now on the other one's name
};
SharedPart shared_part(const Program& program, const Graph& graph);

}  // namespace tap::ir
