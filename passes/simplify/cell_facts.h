// Facts about cells that decide whether a rewrite is sound, and whether it pays.
#pragma once

#include "ir/graphs/needed_cells.h"

namespace tap::passes {

// All cells that the body, coordinates and fills of a map or reduction start from.
std::vector<ir::CellId> roots_of(const ir::Operator& op);

// Whether computing them may fail at some point: a division by a possible zero, a shift by a possibly negative number,
// a data-dependent coordinate without a fill.
bool may_fail(const ir::Operator& op, const std::vector<ir::CellId>& roots);

// Whether the value is certainly a value of its type: read from a tensor of that type, a constant, rounded to it, or
// selected among such values. (Arithmetic on narrow floats rounds only when the cell is written.)
bool is_rounded(const ir::CellExprs& exprs, ir::CellId cell);

struct CellCost {
  std::int64_t flops = 0;  // in units of an addition
  std::int64_t reads = 0;
};
// The cost of computing each needed cell once.
CellCost cost_of(const ir::Operator& op, const std::vector<ir::CellId>& roots);

}  // namespace tap::passes
