// From a source file on the command line to a program with propagated shardings (passes/shardings/propagate.h).
#pragma once

#include "compiler/driver/compile_file.h"
#include "compiler/driver/show/value_locations.h"
#include "passes/shardings/propagate.h"

namespace tap::driver {

struct PropagatedFile {
  FileId file = {};
  ir::Program given;  // before propagation
  passes::Propagated found;
  ValueLocations locations;
};
// With `lowered`, after the passes that always run, as plans expect it. Throws as compile_program does, and Failure if
// members of a group contradict each other. `plan`: choices.
PropagatedFile propagate_file(Session& session, const std::string& path, const SourceOptions& options,
                              const passes::PropagationOptions& how = {}, bool lowered = false,
                              const ir::Plan& plan = {});

}  // namespace tap::driver
