// Numbers for trials of kernels (self_check.h): of every cell its own, by its coordinates, so that any part of a tensor can be
// made by itself. Floats have fractions, so that narrowing rounds them, and so few bits that sums of some products are exact.
#pragma once

#include "backend/reference.h"

namespace tap::backend {

enum class CheckNumbers : std::uint8_t { positive, mixed };  // none is 0; or of both signs

// `below`: the numbers are coordinates of an axis of so many cells; else 0.
TensorPart numbered_part(ElementType element, ir::Box box, std::size_t tensor, CheckNumbers which, std::int64_t below);

// By operand, of how many cells the smallest axis is in which its cells are coordinates; 0 if they are none.
std::vector<std::int64_t> coordinate_operands(const ir::Program& program, const ir::Operator& op);

}  // namespace tap::backend
