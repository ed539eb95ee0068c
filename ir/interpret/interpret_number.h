// The numbers of the interpreter and their operations: floats as f64, integers and bool as i64 that wrap at their
// type.
//
//   apply_integer(CellOp::div, ElementType::i32, {.i = -7}, {.i = 2})  is  -4
#pragma once

#include <cstdint>
#include <string>

#include "ir/cell.h"

namespace tap::ir::oracle {

union Number {
  double f;
  std::int64_t i;
};
inline Number number(double f) { return {.f = f}; }
inline Number integer(std::int64_t i) { return {.i = i}; }
inline Number number_of(const Scalar& s) { return is_float(s.type) ? number(s.f) : integer(s.i); }

// A cell has no value: a division by zero, a coordinate out of range. The caller knows the operator and the point, and
// turns it into an EvaluationError.
struct CellFailure {
  std::string what;
};

// Strict operations (not lazy, no leaf, no cast) on operands of a float type, in f64; comparisons give 0 or 1 in `i`.
Number apply_float(CellOp op, Number a, Number b);
// The same on operands of an integer type or bool. Throws CellFailure.
Number apply_integer(CellOp op, ElementType type, Number a, Number b);
// A cast rounds, since the program asks for it. (Ordinary arithmetic on narrow floats rounds only when the cell is
// written.)
Number apply_cast(ElementType from, ElementType to, Number a);

}  // namespace tap::ir::oracle
