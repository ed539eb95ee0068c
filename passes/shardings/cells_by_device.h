// Cells that the devices of a mesh receive, of which the steps of a reshard take turns.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/operator.h"
#include "ir/shardings/sharding.h"

namespace tap::passes {

// As many of these as `most`, which are then no longer left.
std::vector<std::int64_t> taken(std::vector<std::int64_t>& left, std::int64_t most);

// Bytes, where cells[k] are those of the position positions_of(mesh)[k]. Empty if all devices receive as much.
std::map<std::int64_t, std::int64_t> by_device(const ir::Mesh& mesh, const std::vector<std::int64_t>& cells,
                                               ElementType element);

}  // namespace tap::passes
