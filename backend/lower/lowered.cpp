#include "backend/lower/lowered.h"

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_verify.h"
#include "backend/lower/known_strides.h"
#include "backend/tiles/non_temporal_results.h"

namespace tap::backend {

Kernel lowered(const ir::Program& program, const ir::Operator& op, const LowerOptions& options) {
  Kernel kernel = lower(program, op, options);
  require_verified(kernel, "lowering");
  kernel = normal(kernel);
  mark_non_temporal_results(kernel, options.machine);
  mark_known_strides(kernel, op, options);
  return kernel;
}

}  // namespace tap::backend
