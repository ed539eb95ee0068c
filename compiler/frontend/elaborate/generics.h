// Generic element types and their classes, of operators and monoids: `where T: float`.
#pragma once

#include <vector>

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

// The clause that gives the generic its class; null if there is none.
const ast::WhereClause* class_clause(const std::vector<ast::WhereClause>& where, const std::string& generic);
// number, float, int or any; reports anything else.
TypeClass class_of(Elaboration& elaboration, const ast::WhereClause& clause);
// Reports a type name that is neither built in nor has a class. `after` is the position for the `where`.
[[noreturn]] void fail_without_where(Elaboration& elaboration, const ast::Name& element, const std::string& after);
// Checks a class clause: `owner` is the operator or monoid, whose generics are types of its `parts`; `use` is where
// they were bound.
void check_class(Elaboration& elaboration, const Env& env, const ast::WhereClause& clause, const std::string& owner,
                 const std::string& part, Span use);

}  // namespace tap
