// What has to move between devices for a program's shardings, and the plan that follows them, for people and for `--plan`.
//
//   Y: reduce_scatter {model} [{model}, {}] -> pod[{model}, {}]          768 bytes
//   X for Y: all_gather [{a}, {}] -> pod[{}, {}]                         1.5 KiB, implicit
#pragma once

#include <string>

#include "ir/graph.h"

namespace tap::driver {

// A line for each collective of the graphs that main reaches, with the bytes that the busiest device receives, and the sum.
std::string list_moves(const ir::Program& program);

// The first move that nobody asked for: a tensor that an operation's other tensors force into another sharding. Combining
// partials is none, and neither is slicing. Empty if there is none.
std::string first_implicit_move(const ir::Program& program);

}  // namespace tap::driver
