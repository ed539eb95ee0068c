// What `tapc plan` divides over a mesh (planning/program_to_divide.h), from its file and its plans.
#pragma once

#include "compiler/driver/commands/passes.h"
#include "compiler/driver/planning/program_to_divide.h"
#include "compiler/driver/show/value_locations.h"
#include "cost/search/sharding_search.h"

namespace tap::driver {

struct ReadProgram {
  ProgramFile file;
  FormsOfProgram forms;
  ValueLocations locations;
};
// The forms refer to the session and to `source`.
ReadProgram read_to_divide(Session& session, const std::string& file, const SourceOptions& source,
                           const cost::SearchOptions& search);

}  // namespace tap::driver
