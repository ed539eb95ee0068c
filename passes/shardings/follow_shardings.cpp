#include "passes/shardings/follow_shardings.h"

#include "passes/caution.h"
#include "passes/placed.h"
#include "passes/shardings/moves.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/shardings/propagate.h"
#include "passes/splits/requested_splits.h"

namespace tap::passes {

using namespace ir;

namespace {

void append(Plan& plan, const Plan& more) {
  plan.decisions.insert(plan.decisions.end(), more.decisions.begin(), more.decisions.end());
}

void warn_unfollowed(PassResult& result, const std::string& what) {
  result.diagnostics.emplace_back(Code::pass_declined, Span{}, "a sharding cannot be implemented: " + what);
}

// `written`: the explicit splits of the program and the plan.
Plan plan_of(const Program& program, const Plan& written, const PassContext& context, PassResult& result) {
  if (!has_shardings(program) || is_placed(program)) return {};  // or they were already followed
  if (has_calls(program)) {
    warn_unfollowed(result, "shardings inside calls need the pass `inline_calls`");
    return {};
  }
  PropagationOptions options;
  options.prepare = false;
  Propagated spread = propagate(program, options);
  if (!spread.conflicts.empty()) {
    result.diagnostics.push_back(contradicting_group(spread.conflicts.front()));
    return {};
  }
  ShardedPlan found = plan_of_shardings(spread.program, caution_of(context), written);
  for (const LeftWhole& left : found.left) warn_unfollowed(result, to_string(left));
  if (std::optional<Diagnostic> moves = implicit_moves(spread.program, context.no_implicit_reshard))
    result.diagnostics.push_back(std::move(*moves));
  return std::move(found.plan);
}

}  // namespace

Diagnostic contradicting_group(const std::string& conflict) {
  return Diagnostic(Code::axis_used_twice, Span{}, conflict)
      .help("give both the same sharding, or remove one from the group");
}

PassResult follow_shardings(const Program& program, const PassContext& context) {
  PassResult result;
  result.program = program;
  const Plan written = with_requested_splits(program, context.plan);
  result.decided = plan_of(program, written, context, result);
  append(*result.decided, written);
  return result;
}

}  // namespace tap::passes
