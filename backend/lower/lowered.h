// lower() for all other callers: verified, and in the normal form of the text.
#pragma once

#include "backend/loops/loops.h"

namespace tap::backend {

// Pre: as for lower().
Kernel lowered(const ir::Program& program, const ir::Operator& op, const LowerOptions& options = {});

}  // namespace tap::backend
