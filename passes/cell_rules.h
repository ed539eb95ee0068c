// The rules of cell algebra (cell_rules.def) as data, and one matcher for all of them.
//
//   select(c, a, a) = a     matches     if x[i] < 0 then 1 else 1     with c = (x[i] < 0) and a = 1
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/cell.h"

namespace tap::passes {

// A side of a rule: a term over variables.
struct RuleTerm {
  enum Kind : std::uint8_t { variable, number, minus_zero, truth, least, greatest, operation } kind = variable;
  std::int64_t value = 0;  // of a number or truth; a variable's number
  ir::CellOp op = ir::CellOp::constant;
  std::vector<RuleTerm> args = {};
};
struct CellRule {
  std::string_view text;  // as in cell_rules.def
  RuleTerm left, right;
  std::string variables;           // their letters, in the order in which they first occur in the text
  std::vector<bool> is_constant;   // by variable: only a constant fits
  std::vector<bool> may_not_fail;  // by variable: computed on the left alone
  bool integers = true, floats = true, booleans = true;  // types of the operands

  bool fits(ElementType type) const;
};

// All rules, in order; parsed once.
const std::vector<CellRule>& cell_rules();

using Bindings = std::vector<ir::CellId>;  // by variable
// Whether the cell is the rule's left side, and of what. Says nothing about may_not_fail.
std::optional<Bindings> match(const CellRule& rule, const ir::CellExprs& exprs, ir::CellId cell);
// A term of the given type with those in the place of variables.
ir::CellId instantiate(const RuleTerm& term, const Bindings& variables, ElementType type, ir::CellExprs& exprs);

}  // namespace tap::passes
