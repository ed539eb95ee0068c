// A program as MLIR's text, for `tapc compile --emit=mlir` (backend/mlir/program.h).
#pragma once

#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

// Propagates shardings first. Throws Failure, exit 2, with the operation that MLIR cannot express.
// Pre: the passes have run, and no plan was applied.
std::string mlir_text(ir::Program program);

}  // namespace tap::driver
