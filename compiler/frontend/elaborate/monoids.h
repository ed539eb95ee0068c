// Monoid declarations become ir::Monoids, their laws checked.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// What stands for a component where a monoid is used. A literal has no type: it takes the component's, which is that of
// the cell it is written to if nothing else says.
struct GivenComponent {
  std::optional<ElementType> type;
  Span span;
  std::optional<ElementType> written_to = std::nullopt;
};

bool is_generic(const Definition& monoid);
// The monoid that a declaration means for these operands, in the program's table; a generic one takes its types from
// them, one that is not ignores them. Reports once; throws Abandoned if it is not a monoid.
MonoidInstance monoid_of(Elaboration& elaboration, const Definition& definition,
                         const std::vector<GivenComponent>& given, Span use);
// Tries a generic monoid that nothing uses with f32, and with i32 where its classes hold integers.
void try_monoid(Elaboration& elaboration, const Definition& definition);
// sum, prod, max, min, any, all over elements of this type (f16 and bf16 accumulate in f32); none if they do not fit.
std::optional<ir::MonoidId> builtin_monoid_of(Elaboration& elaboration, const std::string& name, ElementType type);

}  // namespace tap
