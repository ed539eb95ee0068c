// The linear-work reductions (ir/interpret/linear_reductions.h) that have loops of their own, and which dims these
// keep from being split.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/interpret/linear_reductions.h"
#include "ir/operator.h"

namespace tap::backend {

// A scan whose accumulators run along the parallel dim; each step adds points in order: ascending if the upper bound
// moves, descending if the lower one does. No other constraint may relate that dim to others.
std::optional<ir::Scan> native_scan(const ir::Operator& op);

// A scatter that accumulates directly in its result.
std::optional<ir::Scatter> native_scatter(const ir::Program& program, const ir::Operator& op);

// The parallel dims along which an application can be split so that no two blocks write the same cell or repeat work.
std::vector<std::size_t> free_dims(const ir::Program& program, const ir::Operator& op);

// Whether some points of the operator's box read outside the tensor, or where the data says.
bool may_be_outside(const ir::Operator& op, const ir::Access& access);

// Whether consecutive values of the variable access consecutive cells, and the variable affects no other axis.
bool is_contiguous_along(const std::vector<ir::AffineExpr>& at, std::size_t variable);

}  // namespace tap::backend
