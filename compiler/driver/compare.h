// Compares a result with its expected value, like NumPy's allclose: |result - expected| <= absolute + relative *
// |expected|, and NaN equals NaN. Integers and bool must be equal.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensors/content.h"
#include "support/diagnostic.h"

namespace tap::driver {

struct Tolerance {
  std::optional<double> relative, absolute;  // those of the result's type where none is given
};
double relative_tolerance(const Tolerance& tolerance, ElementType type);
double absolute_tolerance(const Tolerance& tolerance, ElementType type);

struct Greatest {
  double by = 0;
  std::int64_t cell = 0;  // the first that differs so much
};
struct Differences {
  std::int64_t unequal = 0, first = 0;  // cells that are not equal, and the first of them; NaN equals NaN
  std::int64_t outside = 0;             // of these, how many are further apart than the tolerance allows
  std::int64_t first_outside = 0;
  std::int64_t not_numbers = 0;  // where a NaN or an infinity leaves no difference that is a number
  std::int64_t both_nan = 0;
  Greatest absolute, relative, ulp;  // relative to the second; ulp: how many numbers of the type lie between, of floats
};
// Pre: same type and shape.
Differences differences(const Tensor& a, const Tensor& b, const Tolerance& tolerance);
Shape index_of(std::int64_t cell, const Shape& shape);

// Nothing, or what differs: how many elements, the first of them, and the greatest difference. Pre: same type and shape.
std::optional<Diagnostic> compare(const NamedTensor& result, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace tap::driver
