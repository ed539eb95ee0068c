// Normalises a program's sharding annotations before propagation, and the inferred shardings after it.
#pragma once

#include "ir/shardings/sharding.h"
#include "passes/shardings/sharding_net.h"

namespace tap::passes {

// Each use of a constant has one of its own: two uses shall not tie each other's shardings.
//   c[i] = 1;  y = a + c;  z = b + c    →    c[i] = 1;  c'[i] = 1;  y = a + c;  z = b + c'
ir::Program with_own_constants(ir::Program program);

// `P = copy of X` with a closed sharding, if X has no other annotation: X is computed with that sharding.
void apply_constraints(ShardingNet& net, const ir::Program& program);

// Members of a group take the sharding that one of them was given. Says where two were given different ones.
std::vector<std::string> share_group_shardings(ShardingNet& net, const ir::Program& program);

// Program inputs and results as a caller can hand them over: what the author gave stays, what was added to it is split evenly and by
// whole axes. `given` is by node.
void normalise_inferred(ShardingNet& net, const ir::Program& program,
                        const std::vector<std::optional<ir::Sharding>>& given);

}  // namespace tap::passes
