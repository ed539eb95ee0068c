// Warns about comments that were probably intended as Python's integer division:
//
//   y[i] = x[i] // 2        a comment: y[i] is x[i]; probably x[i] / 2 is intended, which floors
#pragma once

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

// A comment after an operand that swallows the closing bracket: `{ y[i] = x[i] // 2 }`. Null: none.
const Comment* comment_like_division(const TokenList& list, std::uint32_t opener, char closer);

// Warns about each comment directly after an operand that reads like a divisor. Words, type names and values after two
// spaces are regarded as comments.
void warn_of_division_comments(const TokenList& list, Diagnostics& diagnostics);

// The fix for both.
void offer_division(const TokenList& list, const Comment& comment, Diagnostic& d);

}  // namespace tap
