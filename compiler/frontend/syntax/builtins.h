// Names that the language reserves: types, functions of cells, reductions, keywords.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/cell.h"

namespace tap {

// The cell operation of a built-in function: every strict one that is spelled as a word.
std::optional<ir::CellOp> builtin_function(std::string_view name);
bool is_builtin_reduction(std::string_view name);  // sum prod max min any all
bool is_reserved(std::string_view name);           // also if it is a keyword
std::vector<std::string> builtin_function_names();
std::vector<std::string> type_names();

}  // namespace tap
