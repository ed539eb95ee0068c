// The rules of cell algebra (cell_rules.def) as data, and one matcher for all of them.
//
//   select(c, a, a) = a     matches     if x[i] < 0 then 1 else 1     with c = (x[i] < 0) and a = 1
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/cell_rule.h"

namespace tap::passes {

using ir::CellRule, ir::RuleTerm;

// All rules, in order; parsed once.
const std::vector<CellRule>& cell_rules();

using Bindings = std::vector<ir::CellId>;  // by variable
// Whether the cell matches the rule's left side, and the bindings. Does not check may_not_fail.
std::optional<Bindings> match(const CellRule& rule, const ir::CellExprs& exprs, ir::CellId cell);
// The term with its variables bound, at the given type.
ir::CellId instantiate(const RuleTerm& term, const Bindings& variables, ElementType type, ir::CellExprs& exprs);

}  // namespace tap::passes
