// Choices: where a rule's pattern stands in a graph, what was written and what the rule offers stand side by side in one
// operation, and the plan picks (pick_choices.h).
//
//   H = matmul(X, W)     becomes     H = choice of   0: what was written
//                                                    1: rewrite matmul(x, w) => sum_axis<-2>(products(x, w))
//
// Offered are the program's rewrites and those of the libraries that it uses, other orders of products over a semiring
// (contraction.h), and the folds of monoids (monoid_fold.h). Offers are offers to offers: what stands in a choice's graphs
// may itself be one, to a small depth; but none leads back to what stands around it. Nothing is decided here.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// How deep choices stand in choices.
inline constexpr int most_nested_choices = 3;

// Without context.rules only orders of products and folds are offered. Pre: no calls, no equal operations, no dead ones. Post: the
// first graph of each choice computes by the same operations.
PassResult offer_choices(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
