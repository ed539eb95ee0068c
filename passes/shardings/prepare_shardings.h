// Normalises a program's sharding annotations before propagation, and the inferred shardings after it.
#pragma once

#include "ir/shardings/sharding.h"
#include "passes/shardings/sharding_net.h"

namespace tap::passes {

// Gives each use of a constant its own copy, so that uses do not constrain each other's shardings.
//   c[i] = 1;  y = a + c;  z = b + c    →    c[i] = 1;  c'[i] = 1;  y = a + c;  z = b + c'
ir::Program with_own_constants(ir::Program program);

// `P = copy of X` with a closed sharding: if X has no other annotation, it gets that sharding.
void apply_constraints(ShardingNet& net, const ir::Program& program);

// Members of a group take the sharding that one of them has. Reports members with different ones.
std::vector<std::string> share_group_shardings(ShardingNet& net, const ir::Program& program);

// Makes program inputs and results usable for callers: axes that the author did not write must split evenly, and must
// be whole axes. `given` is by node.
void normalise_inferred(ShardingNet& net, const ir::Program& program,
                        const std::vector<std::optional<ir::Sharding>>& given);

}  // namespace tap::passes
