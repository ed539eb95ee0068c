#include "compiler/frontend/proofs/laws_sampler.h"

#include <algorithm>
#include <limits>

namespace tap {
namespace {

double power_of(std::size_t base, std::size_t exponent) {
  double result = 1;
  while (exponent-- > 0) result *= static_cast<double>(base);
  return result;
}

NumberState as_typed(NumberState state) {
  for (ir::Scalar& s : state)
    if (is_float(s.type)) s = ir::Scalar::floating(s.type, s.f);
  return state;
}

LawCounterexample counterexample(const Question& q, const std::vector<NumberState>& states,
                                 const Judgement<NumberState>& judgement) {
  LawCounterexample result{name_of(q.law), {}, as_typed(judgement.left), as_typed(judgement.right)};
  for (std::size_t k = 0; k < states.size(); ++k) result.values.push_back({state_name(q, k), as_typed(states[k])});
  return result;
}

template <class Algebra>
std::vector<std::vector<typename Algebra::Value>> in_algebra(const Algebra& algebra,
                                                             const std::vector<NumberState>& states) {
  std::vector<std::vector<typename Algebra::Value>> result(states.size());
  for (std::size_t s = 0; s < states.size(); ++s)
    for (const ir::Scalar& v : states[s]) result[s].push_back(algebra.constant(v));
  return result;
}

ir::Scalar shown(const ExactAlgebra::Value& v) { return ExactAlgebra::scalar(v); }
ir::Scalar shown(const IntervalAlgebra::Value& v) {
  if (!is_float(v.type)) return {v.type, v.integer, 0};
  bool is_nan = v.kind == IntervalAlgebra::Kind::nan;
  return {v.type, 0, is_nan ? std::numeric_limits<double>::quiet_NaN() : v.low};
}

template <class State>
Judgement<NumberState> in_numbers(const Judgement<State>& judgement) {
  Judgement<NumberState> result{judgement.answer, {}, {}};
  for (const auto& v : judgement.left) result.left.push_back(shown(v));
  for (const auto& v : judgement.right) result.right.push_back(shown(v));
  return result;
}

// Prefers one whose sides also print differently.
void keep(LawCounterexample found, Sampled& result) {
  auto& slot = found.left == found.right ? result.same_text_counterexample : result.broken;
  if (!slot) slot = std::move(found);
}

}  // namespace

LawSampler::LawSampler(const ir::Program& program, const ir::Monoid& monoid)
    : is_exact_(is_exact(program, monoid)),
      plain_(program, monoid, numbers_, infinities_of(program, monoid)),
      exact_(program, monoid, fractions_, infinities_of(program, monoid)),
      bounded_(program, monoid, intervals_, infinities_of(program, monoid)),
      samples_(monoid, CellEvaluator(program, numbers_).identity(monoid), is_exact_),
      guards_(program, monoid) {}

Sampled LawSampler::sample(LawName law, std::size_t limit) {
  constexpr std::size_t largest_block = 3, largest_whole = 6;
  Sampled all;
  std::vector<Question> questions = questions_of(law, largest_block, largest_whole);
  for (const Question& q : questions) {
    sample(q, limit / questions.size(), all);
    if (!all.broken) all.broken = std::move(all.same_text_counterexample);
    if (all.broken) break;
  }
  return all;
}

void LawSampler::sample(const Question& q, std::size_t limit, Sampled& result) {
  std::vector<NumberState> all = samples_.all(limit);
  bool exhaustive = !all.empty() && power_of(all.size(), q.states) <= static_cast<double>(limit);
  std::size_t count = exhaustive ? static_cast<std::size_t>(power_of(all.size(), q.states)) : limit;
  for (std::size_t k = 0; k < count && !result.broken; ++k) {
    std::vector<NumberState> states;
    for (std::size_t rest = k, s = 0; s < q.states; ++s) {
      states.push_back(exhaustive ? all[rest % all.size()] : samples_.next());
      if (exhaustive) rest /= all.size();
    }
    try_one(q, states, result);
  }
}

void LawSampler::try_one(const Question& q, const std::vector<NumberState>& states, Sampled& result) {
  Judgement<NumberState> plain = evaluate_question(plain_, q, states);
  bool is_guarded = plain.answer != Answer::holds && guards_.any(states, q.law);
  if (is_guarded && result.guarded) return;  // one is enough
  Judgement<NumberState> judgement = plain.answer == Answer::holds ? plain : judge(q, states, plain);
  result.tested += judgement.answer != Answer::not_known;
  if (judgement.answer != Answer::fails) return;
  LawCounterexample found = counterexample(q, states, judgement);
  if (is_guarded) result.guarded = std::move(found);
  else keep(std::move(found), result);
}

// Decides unless the answer depends on rounding.
Judgement<NumberState> LawSampler::judge(const Question& q, const std::vector<NumberState>& states,
                                         const Judgement<NumberState>& plain) {
  if (is_exact_) return in_numbers(evaluate_question(exact_, q, in_algebra(fractions_, states)));
  auto bounded = evaluate_question(bounded_, q, in_algebra(intervals_, states));
  return bounded.answer == Answer::fails && plain.answer == Answer::fails ? plain : in_numbers(bounded);
}

}  // namespace tap
