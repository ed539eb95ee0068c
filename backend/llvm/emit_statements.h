// Emits the statements of a kernel as LLVM IR, at the insertion point of the builder.
#pragma once

#include "backend/llvm/emit_state.h"

namespace tap::backend {

void emit_statements(EmitState& state, const std::vector<Statement>& body);

}  // namespace tap::backend
