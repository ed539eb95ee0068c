// Lists the data that moves between devices for a program's shardings.
//
//   Y: reduce_scatter {model} [{model}, {}] -> pod[{model}, {}]          768 bytes
//   X for Y: all_gather [{a}, {}] -> pod[{}, {}]                         1.5 KiB, implicit
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::driver {

// A line for each collective of the graphs that main reaches, with the bytes that the busiest device receives, and the sum.
std::string list_moves(const ir::Program& program);
// The lines alone, without columns.
std::vector<std::string> lines_of_moves(const ir::Program& program);

}  // namespace tap::driver
