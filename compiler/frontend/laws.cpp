#include "compiler/frontend/laws.h"

#include <algorithm>
#include <chrono>

#include "compiler/frontend/laws_evaluate.h"
#include "compiler/frontend/laws_exact.h"
#include "compiler/frontend/laws_numbers.h"
#include "compiler/frontend/laws_samples.h"
#include "compiler/frontend/laws_symbols.h"
#include "support/check.h"

namespace tap {
namespace {

using ir::Law;
using ir::Scalar;

// A law as a question about so many states. Of the fold, the first `left` are one block, the rest the other.
enum class LawName : std::uint8_t { identity, associative, commutative, fold };
struct Question {
  LawName law;
  std::size_t states;
  std::size_t left = 0;
};
constexpr const char* law_names[] = {"identity", "associative", "commutative", "fold"};

template <class Laws, class State>
auto ask(Laws& laws, const Question& q, const std::vector<State>& s) {
  switch (q.law) {
    case LawName::identity: return laws.identity(s[0]);
    case LawName::associative: return laws.associative(s[0], s[1], s[2]);
    case LawName::commutative: return laws.commutative(s[0], s[1]);
    case LawName::fold: break;
  }
  auto middle = s.begin() + static_cast<std::ptrdiff_t>(q.left);
  return laws.fold({s.begin(), middle}, {middle, s.end()});
}

// Of the fold: for blocks of up to so many elements each, and so many in all.
std::vector<Question> questions_of(LawName law, std::size_t largest_block, std::size_t largest_whole) {
  switch (law) {
    case LawName::identity: return {{law, 1}};
    case LawName::associative: return {{law, 3}};
    case LawName::commutative: return {{law, 2}};
    case LawName::fold: break;
  }
  std::vector<Question> questions{{law, 1, 1}};
  for (std::size_t left = 1; left <= largest_block; ++left) {
    for (std::size_t right = 1; right <= largest_block && left + right <= largest_whole; ++right) {
      questions.push_back({law, left + right, left});
    }
  }
  return questions;
}

std::string state_name(const Question& q, std::size_t k) {
  if (q.law != LawName::fold) return std::string(1, static_cast<char>('a' + k));
  return k < q.left ? "xs[" + std::to_string(k) + "]" : "ys[" + std::to_string(k - q.left) + "]";
}

NumberState as_typed(NumberState state) {
  for (Scalar& s : state) {
    if (is_float(s.type)) s = Scalar::floating(s.type, s.f);
  }
  return state;
}

LawCounterexample counterexample(const Question& q, const std::vector<NumberState>& states,
                                 const Judgement<NumberState>& judgement) {
  LawCounterexample result{law_names[static_cast<int>(q.law)], {}, as_typed(judgement.left), as_typed(judgement.right)};
  for (std::size_t k = 0; k < states.size(); ++k) result.values.push_back({state_name(q, k), as_typed(states[k])});
  return result;
}

struct Sampled {
  std::optional<LawCounterexample> broken;
  std::optional<LawCounterexample> broken_unseen;  // the same, but the sides print alike
  bool strict = true;     // no sample failed at all, not even of states that pass for the identity
  std::size_t asked = 0;  // samples that the law was asked of
};

// Asks numbers. Where fractions can do what the monoid does, they decide what rounding may only seem to break.
class Sampler {
 public:
  Sampler(const ir::Program& program, const ir::Monoid& monoid)
      : is_exact_(is_exact(program, monoid)),
        numbers_{is_exact_ ? 0 : NumberAlgebra{}.tolerance},
        rounded_(program, monoid, numbers_),
        exact_(program, monoid, fractions_),
        samples_(monoid, CellEvaluator(program, numbers_).identity(monoid), is_exact_) {}

  Sampled sample(const Question& q, std::size_t limit) {
    Sampled result;
    std::vector<NumberState> all = samples_.all(limit);
    bool exhaustive = !all.empty() && power(all.size(), q.states) <= static_cast<double>(limit);
    std::size_t count = exhaustive ? static_cast<std::size_t>(power(all.size(), q.states)) : limit;
    for (std::size_t k = 0; k < count && !result.broken; ++k) {
      std::vector<NumberState> states;
      for (std::size_t rest = k, s = 0; s < q.states; ++s) {
        states.push_back(exhaustive ? all[rest % all.size()] : samples_.next());
        if (exhaustive) rest /= all.size();
      }
      try_one(q, states, result);
    }
    if (!result.broken) result.broken = std::move(result.broken_unseen);
    return result;
  }

  void try_one(const Question& q, const std::vector<NumberState>& states, Sampled& result) {
    auto judgement = ask(rounded_.strict, q, states);
    result.asked += judgement.answer != Answer::not_asked;
    if (judgement.answer != Answer::fails) return;
    if (is_exact_) return try_exactly(q, states, result);
    result.strict = false;
    judgement = ask(rounded_.lenient, q, states);
    if (judgement.answer == Answer::fails) keep(counterexample(q, states, judgement), result);
  }

 private:
  template <class Algebra>
  struct Laws {
    LawQuestions<Algebra> strict, lenient;
    Laws(const ir::Program& program, const ir::Monoid& monoid, Algebra& algebra)
        : strict(program, monoid, algebra, true), lenient(program, monoid, algebra, false) {}
  };

  static double power(std::size_t base, std::size_t exponent) {
    double result = 1;
    while (exponent-- > 0) result *= static_cast<double>(base);
    return result;
  }

  void try_exactly(const Question& q, const std::vector<NumberState>& states, Sampled& result) {
    std::vector<std::vector<ExactAlgebra::Value>> fractions(states.size());
    for (std::size_t s = 0; s < states.size(); ++s)
      for (const Scalar& v : states[s]) fractions[s].push_back(fractions_.constant(v));
    if (ask(exact_.strict, q, fractions).answer != Answer::fails) return;
    result.strict = false;
    auto judgement = ask(exact_.lenient, q, fractions);
    if (judgement.answer != Answer::fails) return;
    Judgement<NumberState> sides{Answer::fails, {}, {}};
    for (const auto& v : judgement.left) sides.left.push_back(ExactAlgebra::scalar(v));
    for (const auto& v : judgement.right) sides.right.push_back(ExactAlgebra::scalar(v));
    keep(counterexample(q, states, sides), result);
  }

  // One whose sides differ also as they are shown is the better one.
  static void keep(LawCounterexample found, Sampled& result) {
    auto& slot = found.left == found.right ? result.broken_unseen : result.broken;
    if (!slot) slot = std::move(found);
  }

  bool is_exact_;
  NumberAlgebra numbers_;
  ExactAlgebra fractions_;
  Laws<NumberAlgebra> rounded_;
  Laws<ExactAlgebra> exact_;
  LawSamples samples_;
};

// Integers that are only added, subtracted and multiplied, and never looked at, may be whole numbers: what holds of those
// holds of their remainders.
IntegerModel integer_model(const ir::Monoid& monoid) {
  bool is_ring = !any_cell(monoid, [](const ir::CellExprs& exprs, const ir::CellNode& node) {
    bool of_integers =
        std::any_of(node.args.begin(), node.args.end(), [&](ir::CellId arg) { return is_integer(exprs[arg].type); });
    bool ring_operation = node.op == ir::CellOp::add || node.op == ir::CellOp::sub || node.op == ir::CellOp::mul ||
                          node.op == ir::CellOp::neg || node.op == ir::CellOp::select;
    return of_integers && !ring_operation;
  });
  return is_ring ? IntegerModel::whole_numbers : IntegerModel::bits;
}

std::vector<NumberState> refuting_states(SymbolAlgebra& symbols,
                                         const std::vector<std::vector<SymbolAlgebra::Value>>& states) {
  std::vector<NumberState> result;
  for (const auto& state : states) {
    result.emplace_back();
    for (const auto& symbol : state) {
      auto value = symbols.refuting_value(symbol);
      if (!value) return {};
      result.back().push_back(*value);
    }
  }
  return result;
}

struct Proof {
  bool found = false;
  std::vector<NumberState> refuted_by;  // where Z3 sees it fail; empty if it does not know
};

Proof prove(const ir::Program& program, const ir::Monoid& monoid, const Question& q, bool strict,
            SymbolAlgebra::Clock::time_point deadline) {
  Proof proof;
  try {
    SymbolAlgebra symbols(strict ? integer_model(monoid) : IntegerModel::bits, deadline);
    NumberAlgebra numbers;
    NumberState identity = CellEvaluator(program, numbers).identity(monoid);
    proof.found = symbols.on_all_paths([&] {
      std::vector<std::vector<SymbolAlgebra::Value>> states(q.states);
      for (std::size_t s = 0; s < q.states; ++s) {
        for (std::size_t k = 0; k < monoid.arity(); ++k) {
          std::string name = state_name(q, s) + "." + std::to_string(k);
          states[s].push_back(symbols.variable(monoid.components[k].type, name, numbers.infinity(identity[k])));
        }
      }
      LawQuestions<SymbolAlgebra> laws(program, monoid, symbols, strict);
      if (ask(laws, q, states).answer != Answer::fails) return true;
      proof.refuted_by = refuting_states(symbols, states);
      return false;
    });
  } catch (const SymbolAlgebra::GaveUp&) {
  } catch (const z3::exception&) {}
  return proof;
}

class LawChecker {
 public:
  LawChecker(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options)
      : program_(program),
        monoid_(monoid),
        options_(options),
        sampler_(program, monoid),
        deadline_(SymbolAlgebra::Clock::now() + std::chrono::milliseconds(options.solver_milliseconds)) {}

  LawVerdict check() {
    verdict_.laws.identity = decide(LawName::identity);
    verdict_.laws.associative = decide(LawName::associative);
    verdict_.laws.commutative = decide(LawName::commutative);
    if (monoid_.fold) verdict_.laws.fold = decide(LawName::fold);
    return std::move(verdict_);
  }

 private:
  static constexpr std::size_t sampled_block = 3, sampled_whole = 6, proved_block = 2, proved_whole = 3;
  static constexpr unsigned few_of = 10;

  // A few samples break most laws that do not hold; only a law that is not proved is worth the others.
  Law decide(LawName law) {
    Sampled few = sample(law, options_.samples / few_of);
    if (few.broken) return broken(law, std::move(*few.broken));
    if (few.asked > 0 && few.strict && proves(law, true, few)) return decided(law, Law::proved, "proved");
    if (!few.broken && few.asked > 0 && proves(law, false, few))
      return decided(law, Law::proved, "proved, save for states that pass for the identity");
    if (few.broken) return broken(law, std::move(*few.broken));
    Sampled rest = sample(law, options_.samples - options_.samples / few_of);
    if (rest.broken) return broken(law, std::move(*rest.broken));
    return decided(law, Law::assumed, "not proved; " + std::to_string(few.asked + rest.asked) + " samples agree");
  }

  Sampled sample(LawName law, std::size_t limit) {
    Sampled all;
    std::vector<Question> questions = questions_of(law, sampled_block, sampled_whole);
    for (const Question& q : questions) {
      Sampled one = sampler_.sample(q, limit / questions.size());
      all.asked += one.asked;
      all.strict = all.strict && one.strict;
      all.broken = std::move(one.broken);
      if (all.broken) break;
    }
    return all;
  }

  // Each law may use half of the time that is left, a proof for all states half of that.
  // What Z3 refutes is tried with numbers: only what they confirm is `broken`.
  bool proves(LawName law, bool strict, Sampled& tried) {
    auto now = SymbolAlgebra::Clock::now();
    if (now >= deadline_) return false;
    auto until = now + (deadline_ - now) / (strict ? 3 : 2);
    for (const Question& q : questions_of(law, proved_block, proved_whole)) {
      Proof proof = prove(program_, monoid_, q, strict, until);
      if (!proof.refuted_by.empty()) sampler_.try_one(q, proof.refuted_by, tried);
      if (!tried.broken) tried.broken = std::move(tried.broken_unseen);
      if (!proof.found) return false;
    }
    return true;
  }

  Law broken(LawName law, LawCounterexample by) {
    if (law != LawName::commutative) verdict_.broken.push_back(std::move(by));
    return decided(law, Law::broken, law == LawName::commutative ? "it is not; splits keep the order" : "broken");
  }
  Law decided(LawName law, Law result, const std::string& how) {
    verdict_.remarks.push_back(std::string(law_names[static_cast<int>(law)]) + ": " + how);
    return result;
  }

  const ir::Program& program_;
  const ir::Monoid& monoid_;
  LawOptions options_;
  Sampler sampler_;
  SymbolAlgebra::Clock::time_point deadline_;
  LawVerdict verdict_;
};

}  // namespace

LawVerdict check_laws(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options) {
  return LawChecker(program, monoid, options).check();
}

}  // namespace tap
