// How an input may be held in parts although the operations that read it are not split along them: each device holds its
// part only, and gathers what an operation needs just before it.
//
//   Y[i, o] = sum[k] X[i, k] * W[k, o] on [x: 4], i: {x}     W [{}, {}]: held so, or as [{x}, {}] and gathered
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/plan.h"

namespace tap::cost {

// Finer than `need`: one sharding for each set of the mesh axes that it does not use, without the axis `unused`.
std::vector<ir::Sharding> parts_of_input(const ir::Program& program, const ir::Sharding& need, const Shape& shape,
                                         std::optional<ir::AxisId> unused = {});

// The lines that divide the input so.
std::vector<ir::Decision> lines_of_input(const ir::Program& program, const std::string& input,
                                         const ir::Sharding& parts);

}  // namespace tap::cost
