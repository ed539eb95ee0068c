// `tapc fmt`: reformats a program. Works on tokens and comments, so nothing is lost: line breaks stay (at most one
// blank line in a row); indentation, spacing within lines, and the column of trailing comments change.
//
//   y[i]=x[ i ]*2 // twice      becomes      y[i] = x[i] * 2  // twice
#pragma once

#include <optional>
#include <string>

#include "compiler/frontend/syntax/parse.h"

namespace tap {

// Nothing, and diagnostics, for a file that does not parse. The result has the same syntax tree and formats to itself.
std::optional<std::string> format_source(const SourceMap& sources, FileId file, const ParseLimits& limits,
                                         Diagnostics& diagnostics);

}  // namespace tap
