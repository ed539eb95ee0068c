// lower() as everything else asks for it: looked at by the verifier, and in the form that the text has.
#pragma once

#include "backend/loops/loops.h"

namespace tap::backend {

// Pre: as of lower().
Kernel lowered(const ir::Program& program, const ir::Operator& op, const LowerOptions& options = {});

}  // namespace tap::backend
