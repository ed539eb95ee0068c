// The linear-work reductions (ir/interpret/linear_reductions.h) that have loops of their own, and which dims these
// keep from being split.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/interpret/linear_reductions.h"
#include "ir/operator.h"

namespace tap::backend {

// A scan whose accumulators run along with the parallel dim, each step admitting one point after another in order: upwards
// where an upper bound follows, downwards where a lower one does. Nothing else bounds that dim together with others.
std::optional<ir::Scan> native_scan(const ir::Operator& op);

// A scatter that accumulates in the result itself.
std::optional<ir::Scatter> native_scatter(const ir::Program& program, const ir::Operator& op);

// The parallel dims along which an application can be split so that no two blocks write one cell or repeat work.
std::vector<std::size_t> free_dims(const ir::Program& program, const ir::Operator& op);

// Whether one value of the variable after another is one cell after another in memory, and moves nothing else.
bool is_contiguous_along(const std::vector<ir::AffineExpr>& at, std::size_t variable);

}  // namespace tap::backend
