// Maps specs, which refer to the program as written, to the program after the passes that always run, to which plans
// refer.
//
//   T = A * 2,  Y = T + B, all in rows     → Y = A * 2 + B in rows; T needs no line
#pragma once

#include "passes/shardings/onnx_program.h"

namespace tap::passes::onnx {

struct LoweredShardings {
  Inferred inferred;  // of the lowered program
  std::vector<std::string>
      inside;  // values with a spec that were inlined into their readers, in shards other than the readers'
};
// Pre: `inferred` is of `before`, and `after` is the result of `lowering()`. Values correspond by name.
LoweredShardings lowered(const ir::Program& before, const Inferred& inferred, const ir::Program& after);

}  // namespace tap::passes::onnx
