// Renders diagnostics: as text (source line, carets, two labels, help) or as one JSON object per line.
#pragma once

#include <string>

#include "support/diagnostic.h"

namespace tap {

enum class MessageFormat : std::uint8_t { human, json };

std::string render(const Diagnostic& diagnostic, const SourceMap& sources, MessageFormat format, bool colour);

// All of them, and a line `too many errors` or `too many warnings` if there are.
std::string render(const Diagnostics& diagnostics, const SourceMap& sources, MessageFormat format, bool colour);

}  // namespace tap
