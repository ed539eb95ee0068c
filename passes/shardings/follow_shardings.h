// The pass `propagate`: propagates shardings to all values (propagate.h) and turns them into lines of the plan
// (plan_shardings.h). Splits in the program and in the plan come first: dims that they split are not split by
// shardings.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Shardings of the members of one group that contradict each other (Propagated::conflicts).
Diagnostic contradicting_group(const std::string& conflict);

// The program stays as it is. The plan begins with what was decided here.
PassResult follow_shardings(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
