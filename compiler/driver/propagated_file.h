// A source file from the command line to a program whose shardings have spread (passes/shardings/propagate.h).
#pragma once

#include "compiler/driver/compile_file.h"
#include "compiler/driver/show/sharding_report.h"

namespace tap::driver {

struct PropagatedFile {
  passes::Propagated found;
  ValuePlaces places;
};
// Of members of a group that were given different shardings (Propagated::conflicts).
Failure contradicting_group(const std::string& conflict);

// With `lowered` after the passes that always run: as a plan finds it. Throws as compile_program does, and contradicting_group.
PropagatedFile propagate_file(Session& session, const std::string& path, const SourceOptions& options,
                              const passes::PropagationOptions& how = {}, bool lowered = false);

}  // namespace tap::driver
