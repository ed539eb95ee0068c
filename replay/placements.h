// Checks that devices run the blocks that are placed on them.
#pragma once

#include "replay/along.h"

namespace tap::check {

// Each device of a row runs its block: the numbers of the blocks that are placed on a mesh are its coordinates there. Devices are
// given by their positions in `devices`, if there are any.
void check_place(const ir::Program& program, const ir::Operation& operation, const ir::Row& row, const Along& device,
                 const Moving& box, const std::vector<std::int64_t>& devices);

}  // namespace tap::check
