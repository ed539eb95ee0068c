#include "compiler/driver/commands/planned_shardings.h"

#include "passes/shardings/follow_shardings.h"

namespace tap::driver {

passes::PlannedShardings planned_shardings(Session& session, const PricedOptions& options) {
  pipeline::Compilation made = fused_program(session, options);
  passes::PassContext context{made.plan, options.source.strict_fp};
  context.fast_reduce = options.source.fast_reduce || made.plan.fast_reduce;
  const passes::PassResult followed = passes::follow_shardings(made.program, context);
  return passes::shardings_of_plan(std::move(made.program), *followed.decided);
}

}  // namespace tap::driver
