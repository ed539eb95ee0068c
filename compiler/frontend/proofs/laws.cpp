#include "compiler/frontend/proofs/laws.h"

#include <algorithm>

#include "compiler/frontend/proofs/laws_evaluate.h"
#include "compiler/frontend/proofs/laws_proof.h"
#include "compiler/frontend/proofs/laws_sampler.h"
#include "ir/graph.h"

namespace tap {

const ir::Monoid& monoid_of(const ir::Program& program, ir::MonoidId id) { return program[id]; }

namespace {

using ir::Law;

class LawChecker {
 public:
  LawChecker(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options)
      : program_(program), monoid_(monoid), options_(options), sampler_(program, monoid) {}

  LawVerdict check() {
    verdict_.laws.identity = decide(LawName::identity);
    verdict_.laws.associative = decide(LawName::associative);
    verdict_.laws.commutative = decide(LawName::commutative);
    if (monoid_.fold) verdict_.laws.fold = decide(LawName::fold);
    return std::move(verdict_);
  }

 private:
  static constexpr std::size_t proved_block = 2, proved_whole = 3;
  static constexpr unsigned few_of = 10;

  // The normal form is fast. A few samples refute most false laws, and the solver proves most true ones; only an
  // undecided law is worth more samples. A proof over the reals is only an assumption for floats that may overflow.
  Law decide(LawName law) {
    bool small_blocks_decide = decided_by_small_blocks(law);
    if (small_blocks_decide && has_form(law, computes_the_same)) return Law::proved;
    if (small_blocks_decide && has_form(law, proved_by_normal_form)) return proved_of_reals(law);
    Sampled tried = sampler_.sample(law, options_.samples / few_of);
    if (tried.broken) return broken(law, std::move(*tried.broken));
    std::string why_not;
    if (!tried.guarded && tried.tested > 0 && solver_proves(law, tried, why_not)) {
      if (small_blocks_decide) return proved_of_reals(law);
      why_not = "it is proved only for blocks of up to two elements";
    }
    if (tried.broken) return broken(law, std::move(*tried.broken));
    Sampled rest = sampler_.sample(law, options_.samples - options_.samples / few_of);
    if (rest.broken) return broken(law, std::move(*rest.broken));
    if (tried.guarded || rest.guarded) why_not = "it fails for states that the guard treats as the identity";
    verdict_.assumed.push_back({name_of(law), why_not});
    return Law::assumed;
  }

  bool decided_by_small_blocks(LawName law) const {
    return law != LawName::fold || small_blocks_decide(program_, monoid_);
  }

  template <class Form>
  bool has_form(LawName law, Form form) const {
    std::vector<Question> questions = questions_of(law, proved_block, proved_whole);
    return std::all_of(questions.begin(), questions.end(),
                       [&](const Question& q) { return form(program_, monoid_, q); });
  }

  Law proved_of_reals(LawName law) {
    std::uint64_t steps = options_.proof_steps;
    std::string why_not = why_not_in_range(program_, monoid_, law, steps);
    if (why_not.empty()) return Law::proved;
    verdict_.assumed.push_back({name_of(law), why_not});
    return Law::assumed;
  }

  // Z3's counterexamples are evaluated with numbers: only a confirmed one makes the law `broken`.
  bool solver_proves(LawName law, Sampled& tried, std::string& why_not) {
    std::uint64_t steps = options_.proof_steps;
    for (const Question& q : questions_of(law, proved_block, proved_whole)) {
      Proof proof = prove_with_solver(program_, monoid_, q, steps);
      if (!proof.refuted_by.empty()) sampler_.try_one(q, proof.refuted_by, tried);
      if (!tried.broken) tried.broken = std::move(tried.same_text_counterexample);
      if (!proof.found) return why_not = proof.why_not, false;
    }
    return true;
  }

  // Without commutativity, splits keep the order.
  Law broken(LawName law, LawCounterexample by) {
    if (law != LawName::commutative) verdict_.broken.push_back(std::move(by));
    return Law::broken;
  }

  const ir::Program& program_;
  const ir::Monoid& monoid_;
  LawOptions options_;
  LawSampler sampler_;
  LawVerdict verdict_;
};

}  // namespace

LawVerdict check_laws(const ir::Program& program, const ir::Monoid& monoid, const LawOptions& options) {
  return LawChecker(program, monoid, options).check();
}

}  // namespace tap
