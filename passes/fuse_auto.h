// Groups chosen by the compiler: those of choose_groups, in main and in the bodies of iterates.
#pragma once

#include "passes/choose_groups.h"
#include "passes/rebuild.h"

namespace tap::passes {

PassResult fuse_auto(const ir::Program& program, const FusionLimits& limits = {});

}  // namespace tap::passes
