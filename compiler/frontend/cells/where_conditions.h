// Checks the `where` conditions of a call and reports one that does not hold:
//
//   roll<0, shift = 5>(x)     `roll` needs `shift <= n`; here shift is 5 and n is 3
#pragma once

#include "compiler/frontend/elaborate/signature.h"

namespace tap {

// Fails at the first condition that does not hold, among those that the bindings so far decide.
void check_decided_conditions(Elaboration& elaboration, const Env& callee, const std::vector<ast::WhereClause>& where,
                              const std::string& name, Span call_span);
// shift is 5 and n is 3: the names in a condition that have a value so far.
std::string values_in_condition(const Env& callee, ast::ExprId condition);
// Checks every clause once everything is bound: conditions, and classes of generics.
void check_where(Elaboration& elaboration, const Env& callee, const Signature& signature, Span call_span);

}  // namespace tap
