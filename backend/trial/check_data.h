// Numbers for trials of kernels (self_check.h): of every cell its own, by its coordinates, so that any part of a tensor can be
// made by itself. Floats have 12 bits, so that narrowing rounds them.
#pragma once

#include "backend/trial/reference.h"

namespace tap::backend {

enum class CheckNumbers : std::uint8_t { positive, mixed };  // none is 0; or of both signs

// An operand whose cells are coordinates has numbers below that of `below`; some are -1 where a fill stands for what is
// outside. 0: it is an ordinary operand.
struct CoordinateRange {
  std::int64_t below = 0;
  bool filled = true;
};
TensorPart numbered_part(ElementType element, ir::Box box, std::size_t tensor, CheckNumbers which,
                         const CoordinateRange& range);

// By operand.
std::vector<CoordinateRange> coordinate_ranges(const ir::Program& program, const ir::Operator& op);
// How much of an axis, from its beginning, the numbers reach: where all coordinates along it are cells of operands as they are.
std::int64_t reached_part(const ir::Operator& op, std::uint32_t operand, std::size_t axis);

}  // namespace tap::backend
