// The parts of the verifier of kernels: its tables, then its statements.
#pragma once

#include "backend/loops/loops.h"
#include "ir/verify/verify_parts.h"

namespace tap::backend::verifying {

using ir::verifying::Violations;

// Numbers are in range, cells and their parts are well-typed, and there are no cycles.
void verify_tables(Violations& out, const Kernel& kernel);
// Pre: the tables are valid.
void verify_statements(Violations& out, const Kernel& kernel);

}  // namespace tap::backend::verifying
