// Checks the laws that a stage text claims for its monoids. The text is not trusted, so they are decided again:
//
//   monoid m … laws proved proved proved unknown      of a - b: refused, with the numbers that show it
#pragma once

#include "compiler/frontend/proofs/laws_memory.h"
#include "support/diagnostic.h"

namespace tap::pipeline {

// A claimed law with a counterexample is a Failure; a claimed proof that we cannot repeat makes the law assumed.
void settle_laws(const SourceMap& sources, FileId file, ir::Program& program, LawMemory& memory);

}  // namespace tap::pipeline
