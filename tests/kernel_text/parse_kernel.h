// Parses the text of kernels that print() writes (backend/loops/loops_text.h):  parse_kernel(print(k)) == normal(k)
#pragma once

#include <string_view>
#include <variant>

#include "backend/loops/loops.h"
#include "ir/text.h"

namespace tap::backend {

// In normal form. The kernel may still be invalid: verify() checks it.
std::variant<Kernel, ir::TextError> parse_kernel(std::string_view text);

}  // namespace tap::backend
