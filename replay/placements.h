// Checks that devices run the blocks that are placed on them.
#pragma once

#include "replay/along.h"

namespace tap::check {

// Checks that each device of a row runs its block: block numbers placed on a mesh must equal its coordinates. If
// `devices` is not empty, devices are given by their positions in it.
void check_device(const ir::Program& program, const ir::Operation& operation, const ir::Row& row, const Along& device,
                  const Moving& box, const std::vector<std::int64_t>& devices);

}  // namespace tap::check
