// Copies in a group that need not run, since the writers of what they copy can write to where the copy would.
//
//   y.parts[i] = x[i-1] + x[i+1] for i in 1..7    y.parts[0] = x[0]    y[i] = y.parts[i]    each writes to y
#pragma once

#include <vector>

#include "ir/graphs/demand.h"

namespace tap::backend {

// By operation: whether it copies a whole inner value, which nothing else reads, to a result of the group, and a point
// needs the same cells of both.
std::vector<bool> direct_copies(const ir::GroupView& group, const ir::MovingDemand& windows);

}  // namespace tap::backend
