// Inner values of a group that can use the memory of earlier ones, since these are no longer needed.
//
//   t = f(x)   u = g(t)   v = h(u)   w = k(v)      v can use the memory of t; w that of u
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::backend {

// When something is needed: from one operation to another, inclusive.
struct Needed {
  std::size_t first = 0, last = 0;
};

// By value: from the first operation that writes or reads it to the last. `runs_at`, by operation: the operation with which
// it runs, itself or an earlier one, or nothing if it does not run. Nothing: nothing that runs needs the value.
std::vector<std::optional<Needed>> lifetimes(const ir::Graph& graph,
                                             const std::vector<std::optional<std::size_t>>& runs_at);

// Blocks of memory; each is used by one value after another.
class ReusedMemory {
 public:
  // The number of a block that is free during the lifetime and grows least: possibly a new one, the next number.
  std::size_t block_for(const Needed& needed, double bytes);

 private:
  struct Block {
    double bytes = 0;
    std::vector<Needed> used;
  };
  std::vector<Block> blocks_;
};

}  // namespace tap::backend
