// Monoid declarations become ir::Monoids, their laws checked.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// A component at a use of a monoid. A literal has no type: it takes the component's, or else that of the cell it is
// written to.
struct TypedComponent {
  std::optional<ElementType> type;
  Span span;
  std::optional<ElementType> written_to = std::nullopt;
};

bool is_generic(const Definition& monoid);
// The monoid of a declaration for these operands, in the program's table. A generic one takes its types from them;
// others ignore them. Reports once; throws Abandoned if it is not a monoid.
MonoidInstance monoid_of(Elaboration& elaboration, const Definition& definition,
                         const std::vector<TypedComponent>& given, Span use);
// Tries an unused generic monoid with f32, and with i32 if its classes contain integers.
void try_monoid(Elaboration& elaboration, const Definition& definition);
// sum, prod, max, min, any, all over elements of this type (f16 and bf16 accumulate in f32); none if they do not fit.
std::optional<ir::MonoidId> builtin_monoid_of(Elaboration& elaboration, const std::string& name, ElementType type);

}  // namespace tap
