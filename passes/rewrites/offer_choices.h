// Offers choices: where the pattern of a rule matches a graph, the original and the alternative become one operation,
// and the plan picks one of them (pick_choices.h).
//
//   H = matmul(X, W)     becomes     H = choice of   0: what was written
//                                                    1: rewrite matmul(x, w) => sum_axis<-2>(products(x, w))
//
// Alternatives come from the program's rewrites and those of the libraries that it uses, from other orders of
// products over a semiring (contraction.h), and from the folds of monoids (monoid_fold.h). Alternatives may contain
// choices, up to a small depth, but none that leads back to an enclosing one. Nothing is decided here.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Maximum depth of nested choices.
inline constexpr int most_nested_choices = 3;

// Without context.rules, only orders of products and folds are offered. Pre: no calls, no equal operations, no dead
// code. Post: the first graph of each choice consists of the original operations.
PassResult offer_choices(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
