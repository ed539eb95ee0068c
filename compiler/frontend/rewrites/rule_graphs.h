// Rewrites as graphs: instantiates a rule at concrete types, and tests every rule of a file on small tensors.
#pragma once

#include <map>

#include "compiler/frontend/elaborate/elaboration.h"
#include "ir/rule_instance.h"

namespace tap {

struct RuleAt {  // a rule, and where its names are looked up
  const ast::Module& module;
  const ModuleScope& scope;
  const ast::RewriteDecl& rule;
};

// Both sides as graphs of elaboration.program, over all variables of the pattern, in the order of their names. Nothing if the
// pattern cannot have these types. Reports into elaboration.diagnostics and throws Abandoned where the replacement does not
// take what the pattern takes.
std::optional<ir::RuleInstance> instantiate_rule(Elaboration& elaboration, const RuleAt& at,
                                                 const std::map<std::string, ir::TensorType>& types);

// rewrite matmul(x, w) => sum_axis<-2>(products(x, w)) when matmul.in > 4096, on one line
std::string text_of_rule(const Elaboration& elaboration, const ast::Module& module, const ast::RewriteDecl& rule);

// Tries each rewrite that the file declares on small random types and values: one that changes the result is an error.
// The rules of a used library were tried when it was checked.
//
// Comes last: the graphs that it builds are taken off the program again.
void try_rewrites(Elaboration& elaboration, const ModuleScope& scope);

}  // namespace tap
