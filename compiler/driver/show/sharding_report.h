// Reports the result of propagation: the sharding, shape and bytes per device of every value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::driver {

// A line for each mesh.
std::string mesh_lines(const ir::Program& program);

// A line for each value of the main graph, and the totals; then inner graphs, with their paths.
std::string list_shardings(const ir::Program& program);
// The same with the box of each value on this device. Throws Failure if it is in no mesh.
std::string list_shardings_on(const ir::Program& program, std::int64_t device);

// The largest part of a value that one device holds.
ir::TensorType on_a_device(const ir::Program& program, const ir::Value& value);
// Name and sharding of every value.
std::vector<std::pair<std::string, std::string>> shardings_of(const ir::Program& program);
std::vector<std::string> names_of_values(const ir::Program& program);

}  // namespace tap::driver
