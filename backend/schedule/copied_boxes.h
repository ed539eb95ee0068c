// Boxes that a schedule copies together: results of outside kernels, and adjacent parts on several devices.
#pragma once

#include <optional>

#include "ir/operator.h"
#include "ir/row.h"

namespace tap::backend {

// What the points of a box write, as boxes: one if they leave no gaps, else one for each point of the dims that it hangs on.
std::vector<ir::Box> written_boxes(const ir::Operator& op, const ir::Projection& projection, const ir::Box& box);

// The boxes of a row that lie side by side and are all of a larger one, each once; row's levels along which nothing moves
// are left out, for there is the same again.
struct TiledRow {
  ir::Box all;
  ir::Row row;
};
std::optional<TiledRow> tiles_of(ir::Box all, const ir::Row& row);

}  // namespace tap::backend
