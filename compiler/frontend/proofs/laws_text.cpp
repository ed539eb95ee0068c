#include "compiler/frontend/proofs/laws_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "compiler/frontend/proofs/laws_evaluate.h"
#include "compiler/frontend/proofs/laws_numbers.h"

namespace tap {
namespace {

std::string in_quotes(const std::string& text) { return "`" + text + "`"; }

// Floats of usual size have no exponent: -10000000 next to 10000001, not -1e+07.
std::string number_text(const ir::Scalar& value) {
  constexpr double least = 1e-4, most = 1e15;
  const double size = std::fabs(value.f);
  if (!is_float(value.type) || !(size >= least && size < most)) return to_string(value);
  std::array<char, 64> digits{};
  const auto narrow = static_cast<float>(value.f);
  const bool fits = value.type != ElementType::f64 && narrow == value.f;  // as to_string
  const std::to_chars_result end = fits
                                       ? std::to_chars(digits.begin(), digits.end(), narrow, std::chars_format::fixed)
                                       : std::to_chars(digits.begin(), digits.end(), value.f, std::chars_format::fixed);
  return {digits.begin(), end.ptr};
}

// The side of the identity law that is not `a`.
std::string wrong_side(const ir::Program& program, const ir::Monoid& monoid, const LawCounterexample& broken) {
  NumberAlgebra numbers;
  CellEvaluator<NumberAlgebra> evaluate(program, numbers);
  std::vector<ir::Scalar> identity = evaluate.identity(monoid), a = broken.values.at(0).second;
  bool first = false;
  try {
    first = values_text(evaluate.combine(monoid, identity, a)) == values_text(broken.left);
  } catch (const NoValue&) { first = broken.left.empty(); }
  return in_quotes(first ? "combine(identity, a)" : "combine(a, identity)");
}

}  // namespace

std::string broken_law_text(const ir::Program& program, const ir::Monoid& monoid, const LawCounterexample& broken) {
  const std::string name = in_quotes(monoid.name);
  if (broken.law == "identity")
    return "the identity of the monoid " + name + " is wrong: " + wrong_side(program, monoid, broken) + " is not `a`";
  if (broken.law == "fold") return "the `fold` of the monoid " + name + " does not agree with its `combine`";
  return "the monoid " + name + " breaks the law of associativity";
}

std::string values_text(const std::vector<ir::Scalar>& values) {
  if (values.empty()) return "no value: the program stops";
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + number_text(value);
  return values.size() == 1 ? text : "(" + text + ")";
}

std::string sides_text(const ir::Program& program, const ir::Monoid& monoid, const LawCounterexample& broken) {
  std::string left = values_text(broken.left), right = values_text(broken.right);
  auto unequal = [&](const std::string& one, const std::string& other) {
    return in_quotes(one) + " gives " + left + ", " + in_quotes(other) + " gives " + right;
  };
  if (broken.law == "associative") return unequal("combine(combine(a, b), c)", "combine(a, combine(b, c))");
  if (broken.law == "commutative") return unequal("combine(a, b)", "combine(b, a)");
  if (broken.law == "fold") {
    if (broken.values.size() > 1) return unequal("fold(xs ++ ys)", "combine(fold(xs), fold(ys))");
    return "`fold(xs)` of this single element gives " + left + " instead of the element";
  }
  return wrong_side(program, monoid, broken) + " gives " + left +
         (broken.left.empty() ? "" : " instead of " + values_text(broken.values.at(0).second));
}

}  // namespace tap
