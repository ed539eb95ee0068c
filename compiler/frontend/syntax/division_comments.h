// Warns about comments that were probably meant as Python's integer division:
//
//   y[i] = x[i] // 2        a comment: y[i] is x[i]; probably x[i] / 2 is intended, which floors
#pragma once

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

// A comment behind an operand that holds the bracket which is missing: `{ y[i] = x[i] // 2 }`. Null: none.
const Comment* comment_like_division(const TokenList& list, std::uint32_t opener, char closer);

// Warns of each comment right behind an operand that reads as a divisor. Words, values after two spaces and names of types
// are comments.
void warn_of_division_comments(const TokenList& list, Diagnostics& diagnostics);

// The fix for both.
void offer_division(const TokenList& list, const Comment& comment, Diagnostic& d);

}  // namespace tap
