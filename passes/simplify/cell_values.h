// Simplifications of cells by computation, beyond algebraic rules: each with the name of its axiom.
//
//   2 + 3 is 5            "a = b [arithmetic]"    by the oracle's arithmetic, where nothing is rounded away
//   (i + 1) - 1 is i      "a = b [affine]"        both are the same affine function of the index
//   i < n is true         "a = b [domain]"        at every point of the index space
//   f32(x[i]) is x[i]     "T(a) = a [exact]"      the value is one of that type already
#pragma once

#include <optional>
#include <string_view>

#include "ir/operator.h"

namespace tap::passes {

struct CellValue {
  std::string_view axiom;
  std::vector<ir::CellId> variables;  // of the axiom: a and b, or the a of a cast
  ir::CellId value;                   // the simplified cell
};

// Constant folding by the oracle's arithmetic.
std::optional<CellValue> folded(ir::CellExprs& exprs, ir::CellId cell);
// A cast that changes nothing.
std::optional<CellValue> without_cast(const ir::CellExprs& exprs, ir::CellId cell);
// Adds cells to the operator.
std::optional<CellValue> affine_form(ir::Operator& op, ir::CellId cell);
std::optional<CellValue> decided_by_domain(ir::Operator& op, ir::CellId cell);

}  // namespace tap::passes
