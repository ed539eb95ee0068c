// Applies the plan's choices: each choice becomes the operations of the alternative that the plan picked.
//
//   choose H 1     H = choice of 0: …, 1: rewrite … => sum_axis<-2>(products(x, w))     becomes     H.z = …, H = sum of H.z
//
// The alternative may contain a choice with the same name; the next line for H then refers to that one. Without a
// line in the plan, a choice becomes the original, except that a product is computed in the order with the fewest
// operations, and a reduction by its fold if that gives a contraction, unless everything must be proved.
#pragma once

#include <cstdint>

#include "ir/operator.h"
#include "passes/pass.h"

namespace tap::passes {

// What a choice becomes without a line in the plan; 0 is the original.
std::uint32_t picked_by_default(const ir::RegionBody& choice);

// Post: no graph has a choice. Ignores decisions that are not choices; one without effect is a problem.
PassResult pick_choices(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
