// Unrolls iterates: T trips become one body, and leftover trips follow as single trips.
//
//   iterate 10 (v = u) { v + c }    unroll 4
//   iterate 2 (v = u) { ((v + 4*c) + (4*c + 1)) … + (4*c + 3) }, then + 8, then + 9
// If there are leftover trips, the unrolled result is named after the number of trips done: here `v.8`.
//
// The trips in one body can then be fused: the earlier ones run on boxes that are wider by the halos of the later
// ones. Cells outside a tensor keep their fill, since no trip computes them.
//
// Iterates and groups inside the body stay as they are; if one of them uses a counter whose value would differ
// between trips, the iterate is not unrolled, and the plan gets a remark.
#pragma once

#include "passes/plan_applier.h"

namespace tap::passes {

// Ignores decisions that are not unrolls. An unroll that is impossible is skipped and reported as a problem.
PlannedResult apply_unrolls(const ir::Program& program, const ir::Plan& plan);

// The pass: the plan's unroll lines.
PassResult unroll(const ir::Program& program, const PassContext& context);

// Limit on the operations of an unrolled body.
inline constexpr std::size_t max_unrolled_operations = 10'000;

}  // namespace tap::passes
