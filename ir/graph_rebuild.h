// Rebuilding a graph from a part of it: what dead code and common subexpressions have in common.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace tap::ir {

// What stays, by id; and for a value that goes, the one that takes its place (itself where none does).
struct Selection {
  std::vector<bool> operations;
  std::vector<bool> values;
  std::vector<ValueId> replacement;

  explicit Selection(const Graph& graph, bool keep);
};

// The graph of what stays, renumbered, in the same order. References to values that go without a replacement vanish:
// they leave their groups, and their barriers go, as do the splits of operations that go.
// Pre: inputs, outputs and the operands and results of operations that stay are kept or replaced by what is kept.
Graph rebuild(const Graph& graph, const Selection& selection);

}  // namespace tap::ir
