#include "compiler/driver/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "runtime/print_tensor.h"

namespace tap::driver {
namespace {

// Some units in the last place of a sum; near zero what is left of terms of about 1.
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

bool close(double got, double wanted, double relative, double absolute) {
  if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return true;
  if (!std::isfinite(got) || !std::isfinite(wanted)) return false;
  return std::fabs(got - wanted) <= absolute + relative * std::fabs(wanted);
}

Shape index_of(std::int64_t at, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) index[axis] = at % shape[axis];
  return index;
}

std::string differences(std::int64_t different, std::int64_t not_comparable, double greatest, double absolute,
                        double relative) {
  std::string allowed = fmt::format("allowed is {} + {} · |wanted|", absolute, relative);
  if (not_comparable == 0) return fmt::format("the greatest difference is {}; {}", greatest, allowed);
  std::string why = fmt::format("{} of them by a NaN or an infinity", not_comparable);
  if (not_comparable == different) return fmt::format("{}, which no tolerance allows", why);
  return fmt::format("{}; the greatest difference of the others is {}; {}", why, greatest, allowed);
}

}  // namespace

double relative_tolerance(const Tolerance& tolerance, ElementType type) {
  return tolerance.relative.value_or(default_of(type).relative);
}
double absolute_tolerance(const Tolerance& tolerance, ElementType type) {
  return tolerance.absolute.value_or(default_of(type).absolute);
}

std::optional<Diagnostic> compare(const NamedTensor& result, const Tensor& wanted, const Tolerance& tolerance) {
  const Tensor& got = result.tensor;
  const double relative = relative_tolerance(tolerance, got.type());
  const double absolute = absolute_tolerance(tolerance, got.type());
  std::int64_t different = 0, first = 0;
  std::int64_t not_comparable = 0;  // of those: where a NaN or an infinity leaves no difference that is a number
  double greatest = 0;
  for (std::int64_t at = 0; at < got.size(); ++at) {
    bool equal = is_float(got.type()) ? close(got.load_f64(at), wanted.load_f64(at), relative, absolute)
                                      : got.load_i64(at) == wanted.load_i64(at);
    if (equal) continue;
    if (different++ == 0) first = at;
    double difference = std::fabs(got.load_f64(at) - wanted.load_f64(at));
    if (std::isfinite(difference)) greatest = std::max(greatest, difference);
    else ++not_comparable;
  }
  if (different == 0) return std::nullopt;
  Diagnostic diagnostic(
      Code::result_differs, Span{},
      fmt::format("`{}` is not as expected: {} of {} elements differ, first at {}: {} was wanted, got {}", result.name,
                  different, got.size(), to_string(index_of(first, got.shape())), print_element(wanted, first),
                  print_element(got, first)));
  if (is_float(got.type())) diagnostic.note(differences(different, not_comparable, greatest, absolute, relative));
  return diagnostic;
}

}  // namespace tap::driver
