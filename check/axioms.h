// Axioms of cells: the reasons that a simplification may cite. Most are algebraic identities (axioms.def), some for
// certain types only; the others hold by computation, which is repeated here:
//   a = b [arithmetic]   b is the constant that the operation a on constants gives, exactly
//   a = b [affine]       both are the same linear form of the index (which terms know by themselves)
//   a = b [domain]       at every point of the index space: a condition that is decided, a quotient or remainder by a number
//   T(a) = a [exact]     a is a value of T already;   T(U(a)) = a [exact]   and U has all of T's values
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/affine.h"
#include "check/terms.h"

namespace tap::check {

// Declares both sides equal. Throws Refusal if the axiom is unknown or does not hold for these terms.
void use_axiom(Terms& terms, const std::string& axiom, const std::vector<Term>& variables, const Space& domain);

// The value of an operation on constants; nothing if it fails or would be rounded.
std::optional<ir::Scalar> computed(ir::CellOp op, ElementType type, const std::vector<ir::Scalar>& args);

}  // namespace tap::check
