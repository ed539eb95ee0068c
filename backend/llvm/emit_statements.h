// The statements of a kernel as LLVM IR, at the builder's place.
#pragma once

#include "backend/llvm/emit_state.h"

namespace tap::backend {

void emit_statements(EmitState& state, const std::vector<Statement>& body);

}  // namespace tap::backend
