// What the lines of a plan can name: every operation, its dims, and which of them can be cut.
//
//   H
//     i  0..8  parallel   can be cut
//     k  0..6  reduction  can be cut, into partials that sum combines
#pragma once

#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

// Pre: the program that a plan speaks of: the passes before it have run.
std::string list_splits(const ir::Program& program);

}  // namespace tap::driver
