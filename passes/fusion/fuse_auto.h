// Groups chosen by the compiler with choose_groups, in the main graph and in the bodies of iterates.
#pragma once

#include "passes/fusion/choose_groups.h"
#include "passes/rebuild.h"

namespace tap::passes {

// Remarks name values that one might have expected inside a group.
PassResult fuse_auto(const ir::Program& program, const FusionLimits& limits = {}, const Caution& caution = {});
PassResult fuse_auto(const ir::Program& program, const PassContext& context);

}  // namespace tap::passes
