// Steps of an iterate written out: T steps of its body become one body, and what is left over follows as single steps.
//
//   iterate 10 (v = u) { v + c }    unroll 4
//   iterate 2 (v = u) { ((v + 4*c) + (4*c + 1)) … + (4*c + 3) }, then + 8, then + 9
// If there are such, what the repetition writes is named by the steps that are done: here `v.8`.
//
// The steps of one body can then be fused: the earlier ones on boxes that are wider by what the later ones read around
// theirs. Cells outside of a tensor keep their fill, since no step computes them.
//
// What is repeated or grouped inside of the body stays as it is; where that uses a counter that would become another number
// in each step, the repetition is not written out, and the plan is told so.
#pragma once

#include "passes/plan_applier.h"

namespace tap::passes {

// Decisions that are no unrolls are passed over; one that cannot be is left out, with a problem that says why.
PlannedResult apply_unrolls(const ir::Program& program, const ir::Plan& plan);

// The pass: the plan's unroll lines.
PassResult unroll(const ir::Program& program, const PassContext& context);

// Operations that one body may have after it was written out.
inline constexpr std::size_t max_unrolled_operations = 10'000;

}  // namespace tap::passes
