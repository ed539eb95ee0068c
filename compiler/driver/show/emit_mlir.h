// A program as MLIR's text, for `tapc compile --emit=mlir` (backend/mlir/program.h).
#pragma once

#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

// The shardings propagate first. Throws Failure, exit 2, naming the operation that MLIR cannot say.
// Pre: as the passes leave it, before a plan cuts it.
std::string mlir_text(ir::Program program);

}  // namespace tap::driver
