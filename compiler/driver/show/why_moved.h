// What `tapc explain FILE:A..B` says: what is moved of A before B is computed, and which tensors make it necessary.
//
//   Z..Y: Z is held as m[{b}], and the operation that writes Y needs it as m[{a}]
//     i of the operation is divided by {a}, as X and Y are
#pragma once

#include <string>

#include "passes/shardings/plan_shardings.h"

namespace tap::driver {

class ShardingReasons;

// Empty if the operation that writes `reader` does not read `value`, and `reader` is not `value`. `sites`: those that
// shardings imply, or those of a plan. `names` are of the same program.
std::string why_moved(const ShardingReasons& names, const ir::Program& program, const passes::ChosenSites& sites,
                      const std::string& value, const std::string& reader);

}  // namespace tap::driver
