// Generic element types and their classes, of operators and monoids: `where T: float`.
#pragma once

#include <vector>

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// The clause that gives the generic its class; null if there is none.
const ast::WhereClause* class_clause(const std::vector<ast::WhereClause>& where, const std::string& generic);
// number, float, int or any; anything else is reported.
TypeClass class_of(Elaboration& elaboration, const ast::WhereClause& clause);
// Reports a type's name that is neither built in nor has a class. `after` is where the `where` would stand.
[[noreturn]] void fail_without_where(Elaboration& elaboration, const ast::Name& element, const std::string& after);
// Checks a clause of class: `owner` is an operator's or monoid's name, whose generics are types of its `parts`; `use` is
// where they were bound.
void check_class(Elaboration& elaboration, const Env& env, const ast::WhereClause& clause, const std::string& owner,
                 const std::string& part, Span use);

}  // namespace tap
