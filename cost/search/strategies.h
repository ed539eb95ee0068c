// How the operations of a graph may be divided over a mesh: for each site, every assignment of mesh axes to its factors,
// with the shardings of its operands and results.
//
//   C[i, j] = sum[k] A[i, k] * B[k, j] on [x: 4]
//     i: {x}    A [{x}, {}]   B [{}, {}]    C [{x}, {}]
//     j: {x}    A [{}, {}]    B [{}, {x}]   C [{}, {x}]
//     k: {x}    A [{}, {x}]   B [{x}, {}]   C [{x}, {}] or C [{}, {x}]: each device combines a part of the partials
//     none      A [{}, {}]    B [{}, {}]    C [{}, {}]
#pragma once

#include <optional>
#include <vector>

#include "passes/shardings/explicit_reshards.h"

namespace tap::cost {

struct Strategy {
  passes::SiteShardings site;        // as it reads and computes
  std::vector<ir::Sharding> stored;  // by result: as it is held, after the combination of partials
};

// They do not divide over the axis `unused`. The first one divides nothing. At most `most`, in a fixed order. Post: not empty.
std::vector<Strategy> strategies_of(const ir::Program& program, const ir::Graph& graph, const passes::Site& site,
                                    ir::MeshId mesh, std::size_t most, std::optional<ir::AxisId> unused = {});

// Every sharding of a value of this shape that gives each mesh axis to one axis of the value, or to none.
std::vector<ir::Sharding> shardings_of(const ir::Program& program, ir::MeshId mesh, const Shape& shape);

}  // namespace tap::cost
