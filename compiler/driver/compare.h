// Compares a result with its expected value, like NumPy's allclose: |result - expected| <= absolute + relative *
// |expected|, and NaN equals NaN. Integers and bool must be equal.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensors/content.h"
#include "support/diagnostic.h"

namespace tap::driver {

struct Tolerance {
  std::optional<double> relative, absolute;  // default: those of the result's type
};
double relative_tolerance(const Tolerance& tolerance, ElementType type);
double absolute_tolerance(const Tolerance& tolerance, ElementType type);

struct Greatest {
  double by = 0;
  std::int64_t cell = 0;  // the first one with this difference
};
struct Differences {
  std::int64_t unequal = 0, first = 0;  // cells that are not equal, and the first of them; NaN equals NaN
  std::int64_t outside = 0;             // of these, how many exceed the tolerance
  std::int64_t first_outside = 0;
  std::int64_t not_numbers = 0;  // cells where a NaN or an infinity makes the difference meaningless
  std::int64_t both_nan = 0;
  Greatest absolute, relative, ulp;  // relative to the second tensor; ulp: number of floats in between
};
// Pre: same type and shape.
Differences differences(const Tensor& a, const Tensor& b, const Tolerance& tolerance);
Shape index_of(std::int64_t cell, const Shape& shape);

// Nothing, or the difference: how many elements, the first of them, and the greatest one. Pre: same type and shape.
std::optional<Diagnostic> compare(const NamedTensor& result, const Tensor& expected, const Tolerance& tolerance);

}  // namespace tap::driver
