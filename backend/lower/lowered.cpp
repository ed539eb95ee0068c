#include "backend/lower/lowered.h"

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_verify.h"

namespace tap::backend {

Kernel lowered(const ir::Program& program, const ir::Operator& op, const LowerOptions& options) {
  Kernel kernel = lower(program, op, options);
  require_verified(kernel, "lowering");
  return normal(kernel);
}

}  // namespace tap::backend
