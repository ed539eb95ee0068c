// A reduction over one or zero points becomes a map.
//
//   y[i] = sum[k in 0..1] x[i, k]     is   y[i] = 0 + x[i, 0]          combine(identity, operand)
//   y[i] = max[k in 0..0] x[i, k]     is   y[i] = -inf                 identity
#pragma once

#include <optional>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

// The map, without the reduced dims; empty if a cell may combine more than one point, or if only some cells combine
// one.
std::optional<ir::Operator> reduced_once(const ir::Program& program, const ir::Operator& op);

}  // namespace tap::passes
