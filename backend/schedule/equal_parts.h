// Buffers of several devices that the same call of a kernel writes: they hold the same cells.
//
//   p2 of two blocks on four devices       blocks 0, 0, 1, 1: the first two buffers are equal, and the last two
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "ir/schedule.h"

namespace tap::backend {

// By buffer, all equal ones in their order, itself included; not those that differ from all others.
using EqualParts = std::map<ir::BufferId, std::vector<ir::BufferId>>;
// `reads_of`: how many of a call's buffers are read; the others are written. Pre: no rows across memories.
EqualParts equal_parts(const ir::Schedule& schedule, const std::function<std::size_t(const ir::KernelCall&)>& reads_of);

}  // namespace tap::backend
