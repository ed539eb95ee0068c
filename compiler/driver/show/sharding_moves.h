// Lists the data that moves between devices for a program's shardings.
//
//   Y: reduce_scatter {model} [{model}, {}] -> pod[{model}, {}]          768 bytes            layer.tap:9
//   X for Y: all_gather [{a}, {}] -> pod[{}, {}]                         1.5 KiB, implicit    layer.tap:12
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "ir/graph_ids.h"
#include "passes/caution.h"

namespace tap::driver {

// A line for each collective of the graphs that main reaches, with the bytes that the busiest device receives, the source
// line of its operation, and the sum.
std::string list_moves(const Session& session, const ir::Program& program, const passes::Caution& caution = {});
// The lines alone, without columns.
std::vector<std::string> lines_of_moves(const ir::Program& program);

}  // namespace tap::driver
