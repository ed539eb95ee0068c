// Specs are of a program as its author wrote it; a plan is for what the passes that always run leave of it.
//
//   T = A * 2,  Y = T + B, all in rows     → Y = A * 2 + B in rows; of T no line is needed
#pragma once

#include "passes/shardings/onnx_program.h"

namespace tap::passes::onnx {

struct LoweredShardings {
  Inferred inferred;  // of the program that is left
  std::vector<std::string>
      inside;  // values with a spec that are computed where they are read, in other shards than there
};
// Pre: `inferred` is of `before`, and `after` is `lowering()` of it. Values are told by their names.
LoweredShardings lowered(const ir::Program& before, const Inferred& inferred, const ir::Program& after);

}  // namespace tap::passes::onnx
