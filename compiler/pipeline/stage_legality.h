// The text of a stage comes from outside, so nothing of what the compiler proves of a source text is known of it: that every read
// lies inside of its tensor or is bounded, and that every cell is written exactly once, inside of its tensor.
//
//   read 0 at [i + 3] shape [1]      of an operand f32[8], over i in 0..8, is refused: at i=5 it reads cell 8
#pragma once

#include "ir/graph_ids.h"
#include "support/diagnostic.h"

namespace tap::pipeline {

// Throws Failure, exit 1, with the place in the stage's text. Pre: the program is well formed.
void require_legal(const SourceMap& sources, FileId file, const ir::Program& program);

}  // namespace tap::pipeline
