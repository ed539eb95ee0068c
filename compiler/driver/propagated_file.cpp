#include "compiler/driver/propagated_file.h"

#include "compiler/driver/failures.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/read_stage.h"
#include "passes/pipeline.h"
#include "passes/simplify/inline_calls.h"
#include "support/phase.h"

namespace tap::driver {

Failure contradicting_group(const std::string& conflict) {
  return {exit_code::wrong_program, Diagnostic(Code::axis_used_twice, Span{}, conflict)
                                        .help("give them one sharding, or leave one out of the group")};
}

PropagatedFile propagate_file(Session& session, const std::string& path, const SourceOptions& options,
                              const passes::PropagationOptions& how, bool lowered) {
  FileId file = read_source(session, path);
  Compiled compiled = compile_or_read(session, file, compile_options(options));
  require_inputs(compiled, options);
  Phase phase("propagating shardings");
  PropagatedFile out{{}, places_of_values(compiled)};
  ir::Program program = lowered ? passes::run(passes::lowering(), std::move(compiled.program)).program
                                : passes::inline_calls(std::move(compiled.program), {}).program;
  out.found = passes::propagate(std::move(program), how);
  if (!out.found.conflicts.empty()) throw contradicting_group(out.found.conflicts.front());
  return out;
}

}  // namespace tap::driver
