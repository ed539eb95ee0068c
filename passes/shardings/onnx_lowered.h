// Maps specs, which refer to the program as written, to the program after the passes that always run, to which plans
// refer.
//
//   T = A * 2,  Y = T + B, all in rows     → Y = A * 2 + B in rows; T needs no line
#pragma once

#include "passes/shardings/onnx_program.h"

namespace tap::passes::onnx {

struct LoweredShardings {
  Inferred inferred;  // of the program that is left
  std::vector<std::string>
      inside;  // values with a spec that are computed where they are read, in other shards than there
};
// Pre: `inferred` is of `before`, and `after` is `lowering()` of it. Values correspond by their names.
LoweredShardings lowered(const ir::Program& before, const Inferred& inferred, const ir::Program& after);

}  // namespace tap::passes::onnx
