// The pass `propagate`: shardings spread over all values (propagate.h), and what they ask of operations becomes lines of the
// plan (plan_shardings.h). The splits that the program writes itself, and those of the plan, come first: what they cut is cut
// by them alone.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Shardings of the members of one group that contradict each other (Propagated::conflicts).
Diagnostic contradicting_group(const std::string& conflict);

// The program stays as it is. The plan begins with what was decided here.
PassResult follow_shardings(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
