// What has to move between devices for a program's shardings, for people.
//
//   Y: reduce_scatter {model} [{model}, {}] -> pod[{model}, {}]          768 bytes
//   X for Y: all_gather [{a}, {}] -> pod[{}, {}]                         1.5 KiB, implicit
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"
#include "support/diagnostic.h"

namespace tap::driver {

// A line for each collective of the graphs that main reaches, with the bytes that the busiest device receives, and the sum.
std::string list_moves(const ir::Program& program);

// What is moved although nobody asked for it: tensors that an operation's other tensors force into another sharding.
// Combining partials is no such move, and neither is slicing. With `refuse` an error (T0909), else a warning (T0910), with
// the first move and the bytes of all.
std::optional<Diagnostic> implicit_moves(const ir::Program& program, bool refuse);

}  // namespace tap::driver
