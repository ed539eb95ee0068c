#include "backend/lowered.h"

#include "backend/loops_text.h"
#include "backend/loops_verify.h"

namespace tap::backend {

Kernel lowered(const ir::Program& program, const ir::Operator& op) {
  Kernel kernel = lower(program, op);
  require_verified(kernel, "lowering");
  return normal(kernel);
}

}  // namespace tap::backend
