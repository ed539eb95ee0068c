// What the report's page needs to compute the boxes of every shard, as JSON: index spaces, blockings, the projection of
// each access, and how device positions become block numbers. Its size does not depend on the number of devices.
//
//   dims ["i", 0, 8, "parallel"]   blockings [dim, block dim, count, boundaries]
//   reads [tensor, matrix, offset, shape]      placements {dim 3, mesh 0, stride 2, size 4}: (position / 2) % 4
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/shardings/sharding.h"

namespace tap::driver {

// An empty object with room for its members. An ordered object that grows copies all that it contains, since the names in it are
// constant: of a report, everything.
nlohmann::ordered_json object_with_room(std::size_t members);

nlohmann::ordered_json report_mesh(const ir::Mesh& mesh);
nlohmann::ordered_json report_operator(const ir::Program& program, const ir::Operator& op);
nlohmann::ordered_json report_placements(const ir::Program& program, const ir::Operation& operation);
// By axis of the tensor: the mesh axes that divide it, major to minor.
nlohmann::ordered_json report_sharding(const ir::Program& program, const ir::Sharding& sharding);

}  // namespace tap::driver
