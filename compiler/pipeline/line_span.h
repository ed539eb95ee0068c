// The source span of an error in a text that is parsed line by line (ir/text.h): a stage, a plan.
#pragma once

#include "ir/text.h"
#include "support/source.h"

namespace tap::pipeline {

// The word at the position, or the end of its line.
Span error_span(const SourceFile& source, FileId file, const ir::TextError& error);

}  // namespace tap::pipeline
