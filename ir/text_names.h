// Names in the text form: identifiers as they are, others quoted with escapes.
//   i   "linear#1"   "a\nb"   ""
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

bool is_identifier(std::string_view name);
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
std::string quoted(std::string_view text);
std::string written_name(const std::string& name);

// For affine expressions: a dim's name if it is a unique identifier, else #3.
std::vector<std::string> variable_names(const Operator& op);

// For people: the operator's own names, else x and y, or x0, x1, …
std::string operand_name(const Operator& op, std::size_t operand);
std::string result_name(const Operator& op, std::size_t result);

// Names for the values of a graph, by number. If several values are called H, they become H#1, H#2, … in order. Other
// values do not affect these names.
std::vector<std::string> value_names(const Graph& graph);

// i, j, k
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

}  // namespace tap::ir
