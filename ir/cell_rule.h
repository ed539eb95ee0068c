// Lines of cell algebra,  left = right [types; constant a b],  as data. Precedences are those of the language.
//
//   select(c, a, a) = a
//   a + 0 = a [integers]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/cell.h"

namespace tap::ir {

// A side of a rule: a term over variables.
struct RuleTerm {
  enum Kind : std::uint8_t { variable, number, minus_zero, truth, least, greatest, operation } kind = variable;
  std::int64_t value = 0;  // of a number or truth; a variable's number
  CellOp op = CellOp::constant;
  std::vector<RuleTerm> args = {};
};
struct CellRule {
  std::string_view text;  // the line
  RuleTerm left, right;
  std::string variables;           // their letters, in order of first occurrence
  std::vector<bool> is_constant;   // by variable: matches only a constant
  std::vector<bool> may_not_fail;  // by variable: on the right side it is not always computed, so it must not fail
  bool integers = true, floats = true, booleans = true;  // types of the operands

  bool fits(ElementType type) const;
};

// Pre: the text outlives the rule, and is such a line.
CellRule parse_cell_rule(std::string_view text);

}  // namespace tap::ir
