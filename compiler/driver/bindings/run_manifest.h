// `tapc run MANIFEST`: runs a compiled library instead of a source file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/engine.h"
#include "runtime/tensors/output_spec.h"

namespace tap::driver {

struct RunnableOptions;

struct LoadedProgram {
  std::vector<DeclaredOutput> outputs;
  std::function<Evaluation()> run;  // throws ir::EvaluationError
};

// Null if the file is not a manifest. Throws Failure; the tensors may be mapped from `files`.
std::optional<LoadedProgram> load_manifest(const RunnableOptions& options, const EngineOptions& engine,
                                           TensorFiles& files);

}  // namespace tap::driver
