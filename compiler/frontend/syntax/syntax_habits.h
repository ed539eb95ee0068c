// Messages for syntax from other languages, at the token where the parser fails: `**`, `+=`, `c ? a : b`, `#
// comment`, `for i in range(8):`, `return`, `x[i] else 0`, …
#pragma once

#include "compiler/frontend/syntax/syntax_messages.h"

namespace tap {

// Fills in message, span and help if the unexpected token is one of them.
bool habit_of_another_language(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d);

// An expression in the place of a statement, from its first token.
bool habit_in_a_statement(const TokenList& list, std::size_t first, Diagnostic& d);

// A string as the first argument of NumPy's einsum.
bool habit_of_einsum(const TokenList& list, std::size_t string, Diagnostic& d);

// The Tap form of another language's reduction of that name; empty if the name is unknown. over: `[i]`
std::string instead_of_reduction(std::string_view name, std::string_view over);

}  // namespace tap
