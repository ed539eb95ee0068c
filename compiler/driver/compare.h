// Is a result what was expected? As NumPy's allclose: |result - wanted| <= absolute + relative * |wanted|, and NaN equals
// NaN. Integers and bool must be equal.
#pragma once

#include <optional>
#include <string>

#include "runtime/content.h"
#include "support/diagnostic.h"

namespace tap::driver {

struct Tolerance {
  std::optional<double> relative, absolute;  // those of the result's type where none is given
};
double relative_tolerance(const Tolerance& tolerance, ElementType type);
double absolute_tolerance(const Tolerance& tolerance, ElementType type);

// Nothing, or what differs: how many elements, the first of them, and the greatest difference. Pre: same type and shape.
std::optional<Diagnostic> compare(const NamedTensor& result, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace tap::driver
