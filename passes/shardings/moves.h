// The data that moves between devices for a program's shardings: the collectives of each operation, halos, and which
// of them are implicit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "support/diagnostic.h"

namespace tap::passes {

struct Move {
  std::string what;        // X for Y
  std::string step;        // all_gather [{a}, {}] -> pod[{}, {}]
  std::int64_t bytes = 0;  // that the busiest device receives
  bool implicit = false;   // an operation's other tensors force it
};

// Of the graphs that main reaches, in order.
std::vector<Move> moves_of(const ir::Program& program);

// Tensors that an operation's other tensors force into another sharding. Combining partials is no such move, and neither is
// slicing. With `refuse` an error (T0909), else a warning (T0910), with the first move and the bytes of all.
std::optional<Diagnostic> implicit_moves(const ir::Program& program, bool refuse);

}  // namespace tap::passes
