// `tapc fmt`: the same program, laid out evenly. Works on tokens and comments, so nothing that the user wrote is lost: the
// line breaks stay where they are (blank lines at most one in a row), what changes is the space within lines and before
// them, and the column of comments at line ends.
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
