// Checks the legality of a stage text, which is not trusted: every read must be in bounds or have a fill, and every
// cell must be written exactly once, in bounds.
//
//   read 0 at [i + 3] shape [1]      of an operand f32[8], over i in 0..8, is refused: at i=5 it reads cell 8
#pragma once

#include "ir/graph_ids.h"
#include "support/diagnostic.h"

namespace tap::pipeline {

// Throws Failure, exit 1, with the location in the stage's text. Pre: the program is well formed.
void require_legal(const SourceMap& sources, FileId file, const ir::Program& program);

}  // namespace tap::pipeline
