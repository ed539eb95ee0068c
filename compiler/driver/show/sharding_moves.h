// Lists the data that moves between devices for a program's shardings.
//
//   Y: reduce_scatter {model} [{model}, {}] -> pod[{model}, {}]          768 bytes            layer.tap:9
//   X for Y: all_gather [{a}, {}] -> pod[{}, {}]                         1.5 KiB, implicit    layer.tap:12
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "ir/graph_ids.h"
#include "passes/shardings/moves.h"

namespace tap::driver {

std::string bytes_text(const passes::Move& move);  // 32 bytes in each of 10 trips
// A line for each collective, with the bytes that the busiest device receives, the source line of its operation, and the sum.
std::string list_moves(const Session& session, const std::vector<passes::Move>& moves);
// … of those before this operation, or the one that writes this value, and of its results. Empty if there are none.
std::string moves_about(const Session& session, std::vector<passes::Move> moves, const std::string& name);
// The lines alone, without columns and places in the source, of what is moved.
std::vector<std::string> lines_of_moves(const std::vector<passes::Move>& moves);

}  // namespace tap::driver
