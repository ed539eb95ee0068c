// Checks the laws that a stage text claims for its monoids. The text is not trusted, so they are decided again:
//
//   monoid m … laws proved proved proved unknown      of a - b: refused, with the numbers that show it
#pragma once

#include "compiler/frontend/proofs/laws_memory.h"
#include "support/diagnostic.h"

namespace tap::pipeline {

// A law that the text claims and numbers break is a Failure; one that it calls proved and we cannot prove becomes assumed.
void settle_laws(const SourceMap& sources, FileId file, ir::Program& program, LawMemory& memory);

}  // namespace tap::pipeline
