// The plan's picks: each choice becomes the operations of the graph that the plan chose.
//
//   choose H 1     H = choice of 0: …, 1: rewrite … => sum_axis<-2>(products(x, w))     becomes     H.z = …, H = sum of H.z
//
// What is chosen may hold a choice of the same name; the next line about H is about that one. Where the plan says nothing a
// choice becomes what was written, save that a product is computed in the order with the fewest operations, and a reduction by
// its fold where that leaves a contraction, unless everything is to be proved.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Post: no graph has a choice. Decisions that are no choices are passed over; one that picks nothing is a problem.
PassResult pick_choices(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
