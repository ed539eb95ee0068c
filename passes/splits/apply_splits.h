// Applies the splits of a plan and of the program to its graphs: block dims and blockings, partials and their
// combinations, with the claims that prove that the result is unchanged.
#pragma once

#include "ir/graph.h"
#include "passes/caution.h"

namespace tap::passes {

struct SplitResult {
  ir::Program program;
  std::vector<ir::Step> steps;      // one per round; each round applies the first pending decision about each operation
  std::vector<ir::Program> stages;  // the result of each step
  std::vector<PlanProblem> problems;
  std::vector<std::string> staging_reasons;  // which writes go through a staging buffer, and why, in a sentence each
};
// Blocks over devices may write cells that are interleaved with other devices' or operations'
// (stage_interleaved_writes.h). Refused by those who try a plan: they want its problems, and get no steps.
enum class NoBoxes : std::uint8_t { staged, refused };

// Maximum number of blocks of one dim; more are probably a mistake.
inline constexpr std::int64_t max_blocks = std::int64_t{1} << 20;

// Post: no graph has split requests. Ignores decisions that are not splits.
SplitResult apply_splits(const ir::Program& program, const ir::Plan& plan, const Caution& caution = {},
                         NoBoxes no_boxes = NoBoxes::staged);
// As a pass: the splits of the context's plan.
PassResult apply_splits(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
