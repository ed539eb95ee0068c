#include "compiler/driver/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/tensors/print_tensor.h"

namespace tap::driver {
namespace {

// A few units in the last place of a sum; near zero, rounding errors of terms of about 1.
struct Default {
  ElementType type;
  double relative, absolute;
};
constexpr Default defaults[] = {{ElementType::f64, 1e-5, 1e-8},
                                {ElementType::f32, 1e-5, 1e-6},
                                {ElementType::f16, 1e-3, 1e-3},
                                {ElementType::bf16, 1e-2, 1e-2}};

const Default& default_of(ElementType type) {
  for (const Default& one : defaults)
    if (one.type == type) return one;
  return defaults[0];
}

bool close(double got, double expected, double relative, double absolute) {
  if (!std::isfinite(got) || !std::isfinite(expected)) return false;
  return std::fabs(got - expected) <= absolute + relative * std::fabs(expected);
}

bool equal(const Tensor& a, const Tensor& b, std::int64_t cell) {
  if (!is_float(a.type())) return a.load_i64(cell) == b.load_i64(cell);
  double x = a.load_f64(cell), y = b.load_f64(cell);
  return x == y || (std::isnan(x) && std::isnan(y));
}

// Exact even if both are too large for floats to represent their difference.
double between(std::int64_t x, std::int64_t y) {
  auto more = static_cast<std::uint64_t>(std::max(x, y)), less = static_cast<std::uint64_t>(std::min(x, y));
  return static_cast<double>(more - less);
}

// Numbers the floats of a type in order, from zero: neighbours differ by one, and both zeros are 0.
template <class Bits>
std::int64_t rank_of(const Tensor& tensor, std::int64_t cell) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  Bits bits = 0;
  std::memcpy(&bits, tensor.data() + static_cast<std::size_t>(cell) * sizeof bits, sizeof bits);
  auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~sign));
  return bits & sign ? -magnitude : magnitude;
}

double ulps_between(const Tensor& a, const Tensor& b, std::int64_t cell) {
  auto distance = [](std::int64_t x, std::int64_t y) {
    return std::fabs(static_cast<double>(x) - static_cast<double>(y));
  };
  switch (size_of(a.type())) {
    case 2: return distance(rank_of<std::uint16_t>(a, cell), rank_of<std::uint16_t>(b, cell));
    case 4: return distance(rank_of<std::uint32_t>(a, cell), rank_of<std::uint32_t>(b, cell));
    default: break;
  }
  std::int64_t x = rank_of<std::uint64_t>(a, cell), y = rank_of<std::uint64_t>(b, cell);
  bool near = (x < 0) == (y < 0);  // then their difference does not wrap, and small ones are exact
  return near ? std::fabs(static_cast<double>(x - y)) : distance(x, y);
}

void take(Greatest& greatest, double by, std::int64_t cell) {
  if (by > greatest.by) greatest = {by, cell};
}

std::string greatest_difference(const Differences& found, double greatest, double absolute, double relative) {
  std::string allowed = fmt::format("the tolerance is {} + {} · |expected|", absolute, relative);
  if (found.not_numbers == 0) return fmt::format("the largest difference is {}; {}", greatest, allowed);
  std::string why = fmt::format("in {} of them, one side is NaN or infinite", found.not_numbers);
  if (found.not_numbers == found.outside) return fmt::format("{}, beyond any tolerance", why);
  return fmt::format("{}; the largest difference of the others is {}; {}", why, greatest, allowed);
}

}  // namespace

double relative_tolerance(const Tolerance& tolerance, ElementType type) {
  return tolerance.relative.value_or(default_of(type).relative);
}
double absolute_tolerance(const Tolerance& tolerance, ElementType type) {
  return tolerance.absolute.value_or(default_of(type).absolute);
}

Shape index_of(std::int64_t cell, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; cell /= shape[axis]) index[axis] = cell % shape[axis];
  return index;
}

Differences differences(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  const bool floats = is_float(a.type());
  const double relative = relative_tolerance(tolerance, a.type()), absolute = absolute_tolerance(tolerance, a.type());
  Differences found;
  for (std::int64_t cell = 0; cell < a.size(); ++cell) {
    double x = a.load_f64(cell), y = b.load_f64(cell);
    if (equal(a, b, cell)) {
      found.both_nan += floats && std::isnan(x);
      continue;
    }
    if (found.unequal++ == 0) found.first = cell;
    if (!(floats && close(x, y, relative, absolute)) && found.outside++ == 0) found.first_outside = cell;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++found.not_numbers;
      continue;
    }
    double by = floats ? std::fabs(x - y) : between(a.load_i64(cell), b.load_i64(cell));
    take(found.absolute, by, cell);
    if (y != 0) take(found.relative, by / std::fabs(y), cell);
    if (floats) take(found.ulp, ulps_between(a, b, cell), cell);
  }
  return found;
}

std::optional<Diagnostic> compare(const NamedTensor& result, const Tensor& expected, const Tolerance& tolerance) {
  const Tensor& got = result.tensor;
  Differences found = differences(got, expected, tolerance);
  if (found.outside == 0) return std::nullopt;
  std::int64_t first = found.first_outside;
  Diagnostic diagnostic(
      Code::result_differs, Span{},
      fmt::format("`{}` is not as expected: {} of {} elements differ, first at {}: expected {}, got {}", result.name,
                  found.outside, got.size(), to_string(index_of(first, got.shape())), print_element(expected, first),
                  print_element(got, first)));
  if (is_float(got.type()))
    diagnostic.note(greatest_difference(found, found.absolute.by, absolute_tolerance(tolerance, got.type()),
                                        relative_tolerance(tolerance, got.type())));
  return diagnostic;
}

}  // namespace tap::driver
