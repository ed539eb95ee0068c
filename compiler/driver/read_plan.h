// Reads a plan file (ir/plan.h); errors are shown at their location.
//
//   p.plan:3:7: error[T1402]: unknown operation `Hh`
//   3 | split Hh dim i into 2
//     |       ^^
//   help: did you mean `H`?
#pragma once

#include <string>

#include "compiler/driver/session.h"
#include "compiler/pipeline/failures.h"
#include "ir/text/plan_text.h"

namespace tap::driver {

struct PlanFile {
  FileId file;
  std::vector<std::vector<ir::TextPart>> decisions;
};

// Without a path, an empty plan. Throws Failure, exit 1, if the text is not a plan.
ir::Plan read_plan(Session& session, const std::string& path);

// At the lines of the plan, or at the program's own requests.
void report(const Session& session, const pipeline::PlanRefused& refused);
// At the operation, or at the plan's last line about it.
void report(const Session& session, const pipeline::TooManyBlocks& refused);

}  // namespace tap::driver
