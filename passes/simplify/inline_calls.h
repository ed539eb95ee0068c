// Inlines calls: the graph of every `call` region is copied into the graph that applies it, also inside iterates.
//
//   H = relu(X)   with relu's graph  y = max(x, 0)   becomes   H = max(X, 0)
//
// A callee's result takes the name (and the sharding, if any) of the value at the call; its locals are named `H.m`,
// made unique by a number. A result that is an operand of the call becomes an alias of it.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

// Post: main reaches no call; graphs and operators that main does not reach are removed.
PassResult inline_calls(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
