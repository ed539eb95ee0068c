// Reports the result of propagation: the sharding, shape and bytes per device of every value, and why a value has its
// sharding.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/session.h"
#include "ir/graph.h"
#include "passes/shardings/propagate.h"

namespace tap {
struct Compiled;  // compiler/frontend/elaborate/compile.h
}

namespace tap::driver {

// A line for each mesh.
std::string mesh_lines(const ir::Program& program);

// A line for each value of the main graph, and the totals; then inner graphs, with their paths.
std::string list_shardings(const ir::Program& program);
// The same with the box of each value on this device. Throws Failure if it is in no mesh.
std::string list_shardings_on(const ir::Program& program, std::int64_t device);

// Source locations of the values of the original program, by name.
using ValueLocations = std::map<std::string, Span, std::less<>>;
ValueLocations locations_of_values(const Compiled& compiled);

// Empty if the program has no such value.
std::string why_sharded(const Session& session, const passes::Propagated& found, const ValueLocations& locations,
                        const std::string& name);
// Name and sharding of every value.
std::vector<std::pair<std::string, std::string>> shardings_of(const ir::Program& program);
std::vector<std::string> names_of_values(const ir::Program& program);

}  // namespace tap::driver
