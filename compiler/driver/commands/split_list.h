// The names for plans: every operation, its dims, and which of them can be split.
//
//   H
//     i  0..8  parallel   can be split
//     k  0..6  reduction  can be split, into partials that sum combines
#pragma once

#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

// Pre: the passes before a plan have run.
std::string list_splits(const ir::Program& program);

}  // namespace tap::driver
