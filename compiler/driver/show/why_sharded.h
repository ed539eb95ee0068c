// What `tapc explain FILE:VALUE` says about a value's sharding: what a device holds, where each axis comes from, step by step
// back to an annotation, and what kept the other axes away.
#pragma once

#include <string>

#include "compiler/driver/show/sharding_reasons.h"

namespace tap::driver {

std::string why_sharded(ShardingReasons& reasons, const passes::Propagated& found, ir::GraphId graph,
                        ir::ValueId value);

}  // namespace tap::driver
