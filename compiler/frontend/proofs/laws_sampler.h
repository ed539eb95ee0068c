// Tests laws on samples: first on small numbers in plain f64. If the two sides differ, fractions decide where the
// monoid's operations are exact, otherwise intervals, so that rounding alone never refutes a law.
#pragma once

#include <optional>

#include "compiler/frontend/proofs/laws.h"
#include "compiler/frontend/proofs/laws_exact.h"
#include "compiler/frontend/proofs/laws_guards.h"
#include "compiler/frontend/proofs/laws_intervals.h"
#include "compiler/frontend/proofs/laws_question.h"
#include "compiler/frontend/proofs/laws_samples.h"

namespace tap {

struct Sampled {
  std::optional<LawCounterexample> broken;
  std::optional<LawCounterexample> same_text_counterexample;  // a failure whose two sides print alike
  std::optional<LawCounterexample> guarded;                   // a failure, but only for states that act as the identity
  std::size_t tested = 0;                                     // samples on which the law was tested
};

class LawSampler {
 public:
  LawSampler(const ir::Program& program, const ir::Monoid& monoid);

  Sampled sample(LawName law, std::size_t limit);
  void try_one(const Question& q, const std::vector<NumberState>& states, Sampled& result);

 private:
  void sample(const Question& q, std::size_t limit, Sampled& result);
  Judgement<NumberState> judge(const Question& q, const std::vector<NumberState>& states,
                               const Judgement<NumberState>& plain);

  bool is_exact_;
  NumberAlgebra numbers_;
  ExactAlgebra fractions_;
  IntervalAlgebra intervals_;
  LawQuestions<NumberAlgebra> plain_;
  LawQuestions<ExactAlgebra> exact_;
  LawQuestions<IntervalAlgebra> bounded_;
  LawSamples samples_;
  GuardedStates guards_;
};

}  // namespace tap
