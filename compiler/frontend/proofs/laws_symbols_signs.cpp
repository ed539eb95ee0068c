// Signs of rounded values. Over the reals 1 + |x| - |x| is 1; computed for x = 1e20 it is 0, so its logarithm or a division
// by it leaves the domain of the function. The sign of a computed value is that of the real one for
//
//   a.v, a.v - b.v                 states, and one sum of them
//   exp(a.v) + 1, a.v^2 + b.v^2    sums whose terms have one sign
//   (a.v - b.v) * c.v              products and quotients of such values
//   d, where `if d > 0` tests it   a comparison with a number decides about the computed value itself
//
// Underflow counts as rounding of the result.
#include <algorithm>

#include "compiler/frontend/proofs/laws_symbols.h"

namespace tap {

void SymbolAlgebra::note_tested(const Value& a, const Value& b) {
  if (!is_float(a.type)) return;
  if (a.rounded && constant_of(b)) tested_.push_back(ratio(a));
  if (b.rounded && constant_of(a)) tested_.push_back(ratio(b));
}

bool SymbolAlgebra::has_exact_sign(const Value& v) {
  if (v.kind != Kind::finite || !v.rounded || v.is_positive) return true;
  const z3::expr own = ratio(v);
  if (std::any_of(tested_.begin(), tested_.end(), [&](const z3::expr& e) { return z3::eq(e, own); })) return true;
  const auto& [is_sum, a, b] = *v.rounded;
  if (is_sum && !a.rounded && !b.rounded) return true;
  if (!has_exact_sign(a) || !has_exact_sign(b)) return false;
  if (!is_sum) return true;
  const z3::expr x = ratio(a), y = ratio(b);
  return (!may_be(x < 0) && !may_be(y < 0)) || (!may_be(x > 0) && !may_be(y > 0));
}

void SymbolAlgebra::must_have_exact_sign(const Value& v) {
  if (!has_exact_sign(v)) throw GaveUp{"rounding may take a value out of the domain of a function"};
}

int SymbolAlgebra::sign_in_domain(const Value& v) {
  must_have_exact_sign(v);
  return sign_of(v);
}

}  // namespace tap
