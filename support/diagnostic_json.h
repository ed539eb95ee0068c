// One diagnostic as one JSON object on one line: file, line, column, end_line, end_column, severity, code, message, caret,
// labels, notes, help, fixes. Columns count code points from 1; a fix has byte offsets too, so that a tool can apply it.
#pragma once

#include <string>

#include "support/diagnostic.h"

namespace tap {

std::string json_line(const Diagnostic& diagnostic, const SourceMap& sources);
std::string json_line(Severity severity, std::string_view message);  // without code and location

// `text` in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace tap
