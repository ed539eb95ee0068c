// The message for a refuted law, and its note: which side gives which value.
//
//   the identity of the monoid `m` is wrong: `combine(identity, a)` is not `a`
//   `combine(identity, a)` gives 1 instead of 0
#pragma once

#include <string>

#include "compiler/frontend/proofs/laws.h"

namespace tap {

std::string broken_law_text(const ir::Program& program, const ir::Monoid& monoid, const LawCounterexample& broken);
std::string values_text(const std::vector<ir::Scalar>& values);
std::string sides_text(const ir::Program& program, const ir::Monoid& monoid, const LawCounterexample& broken);

}  // namespace tap
