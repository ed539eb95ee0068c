// The file of a plan (ir/plan.h).
#pragma once

#include <string>

#include "compiler/driver/session.h"
#include "ir/plan.h"

namespace tap::driver {

// Without a path the plan that decides nothing. Throws Failure, exit 1, where the text is no plan.
ir::Plan read_plan(Session& session, const std::string& path);

}  // namespace tap::driver
