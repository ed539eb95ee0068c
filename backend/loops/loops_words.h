// Keyword tables shared by the printer of kernels (loops_text.h) and the parser of the tests.
#pragma once

#include <string_view>

#include "backend/loops/loops.h"

namespace tap::backend {

// The nested statements; null if the statement has none.
const std::vector<Statement>* body_of(const Statement& statement);

// By For, Define and Let, in text order; may contain duplicates.
std::vector<std::uint32_t> variables_defined(const Kernel& kernel);

// Reserved words of the text: for, f32, max, acc0, …
bool is_reserved(std::string_view name);

// acc12
bool is_accumulator(std::string_view name);

// The dims and operands of the section of a single operator: those of the box and of the kernel.
SectionDims box_dims(const Kernel& kernel);

}  // namespace tap::backend
