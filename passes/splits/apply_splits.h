// Applies the splits of a plan and of the program to its graphs: block dims and blockings, partials and their
// combinations, with the claims that prove that the result is unchanged.
#pragma once

#include "ir/graph.h"
#include "passes/caution.h"

namespace tap::passes {

struct SplitResult {
  ir::Program program;
  std::vector<ir::Step> steps;  // one for each round: of the decisions about one operation, a round applies the first
  std::vector<ir::Program> stages;  // what each step made
  std::vector<PlanProblem> problems;
  std::vector<std::string> gathered;  // what is written apart, and why, a sentence each
};
// What blocks over devices write may lie between what other devices write, or beside what other operations do (stage_interleaved_writes.h).
enum class NoBoxes : std::uint8_t { staged, refused };

// At most this many blocks of one dim; more are a mistake.
inline constexpr std::int64_t max_blocks = std::int64_t{1} << 20;

// What the graphs ask for by `split`, as decisions. Pre: calls are inlined.
ir::Plan requested_splits(const ir::Program& program);

// The name of the dim that a split calls `axis 0`: of the value that it names, or the operation's first. Stays as it is where no
// dim alone walks that axis.
std::string named_dim(const ir::Program& program, const ir::Operation& operation, const ir::Graph& graph,
                      const ir::PlannedSplit& split);

// Post: no graph has split requests. Decisions that are not splits are passed over.
SplitResult apply_splits(const ir::Program& program, const ir::Plan& plan, const Caution& caution = {},
                         NoBoxes no_boxes = NoBoxes::staged);
// As a pass: the splits of the context's plan.
PassResult apply_splits(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
