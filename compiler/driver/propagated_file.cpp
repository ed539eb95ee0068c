#include "compiler/driver/propagated_file.h"

#include "compiler/driver/failures.h"
#include "passes/pass_manager.h"
#include "passes/shardings/follow_shardings.h"
#include "passes/simplify/inline_calls.h"
#include "support/phase.h"

namespace tap::driver {

PropagatedFile propagate_file(Session& session, const std::string& path, const SourceOptions& options,
                              const passes::PropagationOptions& how, bool lowered) {
  Compiled compiled = build_given(session, read_given(session, path, options));
  Phase phase("propagating shardings");
  PropagatedFile out{{}, places_of_values(compiled)};
  ir::Program program = lowered ? passes::run(passes::lowering(), std::move(compiled.program)).program
                                : passes::inline_calls(std::move(compiled.program), {}).program;
  out.found = passes::propagate(std::move(program), how);
  if (!out.found.conflicts.empty())
    throw Failure{exit_code::wrong_program, passes::contradicting_group(out.found.conflicts.front())};
  return out;
}

}  // namespace tap::driver
