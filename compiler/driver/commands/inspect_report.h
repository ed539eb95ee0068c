// tapc inspect FILE -o report.html: compiles the file up to the sharded graph and writes the page that shows it.
#pragma once

#include <string>

#include "compiler/driver/compile_file.h"
#include "compiler/driver/session.h"
#include "compiler/driver/show/report_plans.h"

namespace tap::driver {

struct ReportOptions {
  std::string plan, trace;   // files; empty: none
  std::string machine = {};  // its file: for the costs of other decisions
  bool code = false;         // with the loop nests and the assembly of kernels
  bool times = false;        // with the time of each pass
};

// The page, or its data alone. Throws as compile_program does, and if the trace is of another program.
std::string inspect_report(Session& session, const std::string& file, const ReportOptions& options,
                           const SourceOptions& source, bool as_page);

// The page for a plan that `tapc plan` found, with the others beside it.
std::string plans_report(Session& session, const std::string& file, const ir::Plan& plan, const SourceOptions& source,
                         const ReportedPlans& plans);

}  // namespace tap::driver
