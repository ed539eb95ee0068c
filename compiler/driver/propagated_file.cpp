#include "compiler/driver/propagated_file.h"

#include "compiler/driver/failures.h"
#include "passes/pass_table.h"
#include "passes/shardings/follow_shardings.h"
#include "support/phase.h"

namespace tap::driver {

PropagatedFile propagate_file(Session& session, const std::string& path, const SourceOptions& options,
                              const passes::PropagationOptions& how, bool lowered, const ir::Plan& plan) {
  PropagatedFile out;
  pipeline::Options config;
  config.plan = plan;
  config.stop = pipeline::Stage::simplified;
  config.proof = pipeline::Proof::none;
  if (!lowered) config.simplify = std::vector{*passes::find_pass("inline_calls")};
  pipeline::Observer observer;
  observer.after_build = [&](const Compiled& built) { out.locations = locations_of_values(built); };
  const ProgramFile input = read_program_file(session, path, options);
  out.file = input.file;
  pipeline::Compilation made = compile_file(session, input, config, observer);
  Phase phase("propagating shardings");
  out.given = std::move(made.program);
  out.found = passes::propagate(out.given, how);
  if (!out.found.conflicts.empty())
    throw Failure{exit_code::wrong_program, passes::contradicting_group(out.found.conflicts.front())};
  return out;
}

}  // namespace tap::driver
