// Monoid declarations become ir::Monoids, their laws checked.
#pragma once

#include "compiler/frontend/session.h"

namespace tap {

// The monoid that a declaration means, in the program's table. Reports once; throws Abandoned if it is not one.
ir::MonoidId monoid_of(Session& session, const Definition& definition);
// sum, prod, max, min, any, all over elements of this type (f16 and bf16 accumulate in f32); none if they do not fit.
std::optional<ir::MonoidId> builtin_monoid_of(Session& session, const std::string& name, ElementType type);

}  // namespace tap
