// Kernels out of the text that print() writes (backend/loops/loops_text.h):  parse_kernel(print(k)) == normal(k)
#pragma once

#include <string_view>
#include <variant>

#include "backend/loops/loops.h"
#include "ir/text.h"

namespace tap::backend {

// In normal form. What the text says may still be wrong: verify() tells.
std::variant<Kernel, ir::TextError> parse_kernel(std::string_view text);

}  // namespace tap::backend
