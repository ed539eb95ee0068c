// Operator precedence, shared by parser and printer: or 1, and 2, not 3, comparisons 4, + - 5, * / % 6, unary minus
// 7, postfix 8.
#pragma once

namespace tap::precedence {

inline constexpr int lowest_level = 1, not_level = 3, comparison_level = 4, minus_level = 7, postfix_level = 8;

}  // namespace tap::precedence
