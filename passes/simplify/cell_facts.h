// Facts about cells that decide whether a rewrite is sound, and whether it pays.
#pragma once

#include "ir/graphs/needed_cells.h"

namespace tap::passes {

// All cells of a map or a reduction that its body, coordinates and fills start from.
std::vector<ir::CellId> roots_of(const ir::Operator& op);

// Whether computing them may fail at some point: a division by what may be zero, a shift by what may be negative, a
// coordinate from data without a fill.
bool may_fail(const ir::Operator& op, const std::vector<ir::CellId>& roots);

// Whether the value surely is one of its type: read from a tensor of it, a constant, rounded to it, or chosen among such.
// (Arithmetic on narrow floats rounds only where it is written.)
bool is_rounded(const ir::CellExprs& exprs, ir::CellId cell);

struct CellCost {
  std::int64_t flops = 0;  // in additions
  std::int64_t reads = 0;
};
// Of computing each needed cell once.
CellCost cost_of(const ir::Operator& op, const std::vector<ir::CellId>& roots);

}  // namespace tap::passes
