// The file of a plan (ir/plan.h), and its mistakes shown where they were written.
//
//   p.plan:3:7: error[T1402]: no operation is called `Hh`
//   3 | split Hh dim i into 2
//     |       ^^
//   help: did you mean `H`?
#pragma once

#include <string>

#include "compiler/driver/session.h"
#include "ir/text/plan_text.h"
#include "passes/pass.h"

namespace tap::driver {

struct PlanFile {
  FileId file;
  std::vector<std::vector<ir::TextPart>> decisions;
};

// Without a path the plan that decides nothing. Throws Failure, exit 1, where the text is no plan.
ir::Plan read_plan(Session& session, const std::string& path);

// Thrown where decisions cannot be applied. Those that the program itself asks for are counted first, then the plan's.
struct PlanRefused : Failure {
  PlanRefused(std::vector<passes::PlanProblem> found, std::vector<std::string> of_the_program);

  std::vector<passes::PlanProblem> problems;
  std::vector<std::string> requested;  // the operations that the program itself asks to split
};
void tell(const Session& session, const PlanRefused& refused);

}  // namespace tap::driver
