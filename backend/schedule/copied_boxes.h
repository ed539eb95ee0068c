// Boxes that a schedule copies together: results of outside kernels, and adjacent parts on several devices.
#pragma once

#include <optional>

#include "ir/operator.h"
#include "ir/row.h"

namespace tap::backend {

// The cells that the points of a box write, as boxes: one box if there are no gaps, else one for each point of the dims
// that the position depends on.
std::vector<ir::Box> written_boxes(const ir::Operator& op, const ir::Projection& projection, const ir::Box& box);

// The boxes of a row that tile a larger box, each once. Levels of the row with zero steps are dropped, since they
// repeat boxes.
struct TiledRow {
  ir::Box all;
  ir::Row row;
};
std::optional<TiledRow> tiles_of(ir::Box all, const ir::Row& row);

}  // namespace tap::backend
