// How a plan divides a file's program over a mesh, for commands that show what is moved.
//
//   passes::PlannedShardings planned = planned_shardings(session, options);
//   passes::moves_of(planned.program, planned.sites)      X for Y: all_gather …
#pragma once

#include "compiler/driver/commands/priced_program.h"
#include "passes/shardings/planned_shardings.h"

namespace tap::driver {

// Of the options' plan, of what the cost model decides, and of what the program's shardings imply. Throws as price() does.
passes::PlannedShardings planned_shardings(Session& session, const PricedOptions& options);

}  // namespace tap::driver
