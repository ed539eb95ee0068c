// ANTLR's own verdict on a text, such as ambiguities of the grammar.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

// Parses the whole text by the rule `file` with exact ambiguity detection; each ambiguity and error is a line.
std::vector<std::string> grammar_complaints(const TokenList& list);

}  // namespace tap
