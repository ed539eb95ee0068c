// Proofs of a law: by the normal form of sums, maxima and minima, else by Z3.
#pragma once

#include <string>

#include "compiler/frontend/proofs/laws_question.h"
#include "compiler/frontend/proofs/laws_samples.h"

namespace tap {

struct Proof {
  bool found = false;
  std::vector<NumberState> refuted_by;  // where Z3 sees it fail; empty if it does not know
  std::string why_not;                  // what keeps it from being proved, if that is known
};

// Do both sides compute the same, step by step, but for the order of the two of a sum, a product, a maximum? Such a law holds
// for all bits, whatever overflows.
bool computes_the_same(const ir::Program& program, const ir::Monoid& monoid, const Question& q);
bool proved_by_normal_form(const ir::Program& program, const ir::Monoid& monoid, const Question& q);
// Takes what it does off `steps`.
Proof prove_with_solver(const ir::Program& program, const ir::Monoid& monoid, const Question& q, std::uint64_t& steps);

// Why a proof over the reals does not say enough of floats: what is computed may leave their range though states and results
// do not. Empty if it does not.
std::string why_not_in_range(const ir::Program& program, const ir::Monoid& monoid, LawName law, std::uint64_t& steps);

// Whether the law of the fold for blocks of one and two elements is that of all blocks (laws_fold.cpp).
bool small_blocks_decide(const ir::Program& program, const ir::Monoid& monoid);

}  // namespace tap
