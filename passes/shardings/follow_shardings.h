// The pass `propagate`: propagates shardings to all values (propagate.h) and turns them into lines of the plan
// (plan_shardings.h). Splits in the program and in the plan come first: dims that they split are not split by
// shardings.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Reports contradicting shardings within one group (Propagated::conflicts).
Diagnostic contradicting_group(const std::string& conflict);

// Does not change the program. The plan starts with the decisions made here.
PassResult follow_shardings(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
