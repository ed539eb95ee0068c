// A whole program as block graphs.
#pragma once

#include <vector>

#include "ir/block_graph.h"
#include "ir/graph.h"

namespace tap::ir {

// By GraphId; those that main does not reach are empty.
struct BlockProgram {
  Program program;
  std::vector<BlockGraph> graphs;
  bool operator==(const BlockProgram&) const = default;
};

}  // namespace tap::ir
