// Rewrites as graphs: instantiates a rule at concrete types, and tests every rule of a file on small tensors.
#pragma once

#include <map>

#include "compiler/frontend/elaborate/elaboration.h"
#include "ir/rule_instance.h"

namespace tap {

struct RuleAt {  // a rule, and the scope of its names
  const ast::Module& module;
  const ModuleScope& scope;
  const ast::RewriteDecl& rule;
};

// Both sides as graphs of elaboration.program, over all variables of the pattern, ordered by name. Nothing if the
// pattern cannot have these types. Reports into elaboration.diagnostics and throws Abandoned if the replacement does
// not accept the pattern's types.
std::optional<ir::RuleInstance> instantiate_rule(Elaboration& elaboration, const RuleAt& at,
                                                 const std::map<std::string, ir::TensorType>& types);

// rewrite matmul(x, w) => sum_axis<-2>(products(x, w)) when matmul.in > 4096, on one line
std::string text_of_rule(const Elaboration& elaboration, const ast::Module& module, const ast::RewriteDecl& rule);

// Tries each rewrite that the file declares on small random types and values: a rule that changes the result is an
// error. The rules of a used library were tried when it was checked.
//
// Call last: removes the graphs that it builds from the program.
void try_rewrites(Elaboration& elaboration, const ModuleScope& scope);

}  // namespace tap
