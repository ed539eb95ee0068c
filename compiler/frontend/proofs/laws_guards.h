// Guarded states: states of several components that a monoid treats as its identity, although they are not, because
// of one component with a finite value: a Welford state (n, mean, m2) = (0, 5, 3) combined with (0, 0, 0) gives (0,
// 0, 0), and two states with n = 1 and n = -1 cancel to zero. The guard `if n == 0` of such monoids is intended for the
// identity alone, so a law that fails only for such states is not refuted but assumed. An infinity is not such a
// guard: (-inf, 5) is an element of an argmax wherever a score is masked, so the identity (-inf, -1), which absorbs
// it, is wrong, and (-inf, i64.max) is right.
#pragma once

#include "compiler/frontend/proofs/laws_question.h"
#include "compiler/frontend/proofs/laws_samples.h"

namespace tap {

class GuardedStates {
 public:
  GuardedStates(const ir::Program& program, const ir::Monoid& monoid);

  // Whether any of the states is guarded, or two neighbours that the law combines cancel to a guarded state.
  bool any(const std::vector<NumberState>& states, LawName law);

 private:
  bool passes_for_identity(const NumberState& s);
  bool cancels(const NumberState& a, const NumberState& b);

  const ir::Monoid& monoid_;
  NumberAlgebra numbers_;
  CellEvaluator<NumberAlgebra> evaluate_;
  NumberState identity_;
};

}  // namespace tap
