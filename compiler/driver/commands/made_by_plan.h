// Values that a program has only with a plan: the partials of a divided reduction, the steps of an unrolled iterate, what a chosen
// rewrite computes on the way.
//
//   split s dim j into 4 over grid.x     s.partial: f32[4, 64]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/commands/priced_program.h"

namespace tap::driver {

struct MadeByPlan {
  std::optional<ir::TensorType> type;  // none: no value has the name
  std::string lines;                   // of the plan that make it, for people
  std::vector<std::string> names;      // of all values
};
// Throws as compile does.
MadeByPlan made_by_plan(Session& session, const PricedOptions& options, const std::string& name);

}  // namespace tap::driver
