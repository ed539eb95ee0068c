#include "compiler/frontend/proofs/laws_text.h"

#include "compiler/frontend/proofs/laws_evaluate.h"
#include "compiler/frontend/proofs/laws_numbers.h"

namespace tap {
namespace {

std::string in_quotes(const std::string& text) { return "`" + text + "`"; }

}  // namespace

std::string values_text(const std::vector<ir::Scalar>& values) {
  if (values.empty()) return "no value: the program stops";
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + to_string(value);
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
  NumberAlgebra numbers;
  CellEvaluator<NumberAlgebra> evaluate(program, numbers);
  std::vector<ir::Scalar> identity = evaluate.identity(monoid), a = broken.values.at(0).second;
  bool first = false;
  try {
    first = values_text(evaluate.combine(monoid, identity, a)) == left;
  } catch (const NoValue&) { first = broken.left.empty(); }
  return in_quotes(first ? "combine(identity, a)" : "combine(a, identity)") + " gives " + left + " instead of a";
}

}  // namespace tap
