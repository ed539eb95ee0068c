// Whether devices run the blocks that are placed on them.
#pragma once

#include "replay/along.h"

namespace tap::check {

// Each device of a row runs its block: the numbers of the blocks that are placed on a mesh are its coordinates there.
void check_place(const ir::Program& program, const ir::Operation& operation, const ir::Row& row, const Along& device,
                 const Moving& box);

}  // namespace tap::check
