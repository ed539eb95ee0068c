// The message for a refuted law: which side gives which value.
//
//   `combine(identity, a)` gives 1 instead of a
#pragma once

#include <string>

#include "compiler/frontend/proofs/laws.h"

namespace tap {

std::string values_text(const std::vector<ir::Scalar>& values);
std::string sides_text(const ir::Program& program, const ir::Monoid& monoid, const LawCounterexample& broken);

}  // namespace tap
