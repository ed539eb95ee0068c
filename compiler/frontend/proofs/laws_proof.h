// Proofs of a law: by the normal form of sums, maxima and minima, else by Z3.
#pragma once

#include <string>

#include "compiler/frontend/proofs/laws_question.h"
#include "compiler/frontend/proofs/laws_samples.h"

namespace tap {

struct Proof {
  bool found = false;
  std::vector<NumberState> refuted_by;  // Z3's counterexample; empty if it has none
  std::string why_not;                  // why there is no proof, if known
};

// Whether both sides perform the same operations, up to the order of the operands of a sum, a product or a maximum.
// Such a law holds bitwise, even with overflow.
bool computes_the_same(const ir::Program& program, const ir::Monoid& monoid, const Question& q);
bool proved_by_normal_form(const ir::Program& program, const ir::Monoid& monoid, const Question& q);
// Subtracts its work from `steps`.
Proof prove_with_solver(const ir::Program& program, const ir::Monoid& monoid, const Question& q, std::uint64_t& steps);

// Why a proof over the reals is not enough for floats: an intermediate may overflow although states and results do not.
// Empty if it is enough.
std::string why_not_in_range(const ir::Program& program, const ir::Monoid& monoid, LawName law, std::uint64_t& steps);

// Whether the law of the fold for blocks of one and two elements implies it for all blocks (laws_fold.cpp).
bool small_blocks_decide(const ir::Program& program, const ir::Monoid& monoid);

}  // namespace tap
