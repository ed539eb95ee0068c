// A Program as JSON for other tools; its schema is docs/schema/graph.schema.json.
#pragma once

#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

std::string to_json(const ir::Program& program, const std::string& name);

}  // namespace tap::driver
