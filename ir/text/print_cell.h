// Prints cells as infix expressions with minimal parentheses.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "ir/operator.h"

namespace tap::ir {

// How leaves, and the monoids of a fold's reductions, are written.
struct CellWords {
  std::function<std::string(const CellNode& node, const std::function<std::string(CellId)>& show)> leaf;
  std::function<std::string(const Scalar&)> constant = {};  // if missing, the bare number
};

// max(x[i], 0). If shared cells would make the text long, they are named by their numbers:
// let %4 = exp(x[i]), %5 = %4 * %4 in %5 + %5
std::string print_cells(const CellExprs& exprs, CellId root, const CellWords& words);

// This cell, written out; cells below it that have a name, by that name.
using CellNames = std::unordered_map<CellId, std::string>;
std::string print_cell_out(const CellExprs& exprs, CellId root, const CellWords& words, const CellNames& names);

// cell 2 = mul f32 (0, 1): the text form's line.
std::string cell_line(const CellExprs& exprs, CellId id);

// x[i + u - 1, ids[n] else 0]
CellWords words_of(const Operator& op);

}  // namespace tap::ir
