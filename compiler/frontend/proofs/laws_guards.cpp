#include "compiler/frontend/proofs/laws_guards.h"

#include <algorithm>
#include <cmath>

namespace tap {
namespace {

bool same_number(const ir::Scalar& a, const ir::Scalar& b) { return is_float(a.type) ? a.f == b.f : a.i == b.i; }
bool same_state(const NumberState& a, const NumberState& b) {
  return std::equal(a.begin(), a.end(), b.begin(), same_number);
}

}  // namespace

GuardedStates::GuardedStates(const ir::Program& program, const ir::Monoid& monoid)
    : monoid_(monoid), evaluate_(program, numbers_), identity_(evaluate_.identity(monoid)) {}

bool GuardedStates::any(const std::vector<NumberState>& states, LawName law) {
  bool pairs = law == LawName::associative || law == LawName::commutative;
  if (monoid_.arity() < 2) return false;
  try {
    if (std::any_of(states.begin(), states.end(), [&](const auto& s) { return passes_for_identity(s); })) return true;
    for (std::size_t k = 1; pairs && k < states.size(); ++k)
      if (cancels(states[k - 1], states[k])) return true;
  } catch (const NoValue&) {}
  return false;
}

bool GuardedStates::passes_for_identity(const NumberState& s) {
  bool vanishes = same_state(evaluate_.combine(monoid_, s, identity_), identity_) ||
                  same_state(evaluate_.combine(monoid_, identity_, s), identity_);
  if (!vanishes || same_state(s, identity_)) return false;
  for (std::size_t k = 0; k < s.size(); ++k)
    if (!std::isinf(identity_[k].f) && same_number(s[k], identity_[k])) return true;
  return false;
}

bool GuardedStates::cancels(const NumberState& a, const NumberState& b) {
  NumberState ab = evaluate_.combine(monoid_, a, b);
  return passes_for_identity(ab) ||
         (same_state(ab, identity_) && !(same_state(a, identity_) && same_state(b, identity_)));
}

}  // namespace tap
