// The passes in order, each with the reason for its position.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "passes/pass.h"

namespace tap::passes {

// The passes that always run, in order: from the graph that the frontend builds to the one that plans refer to. A pass
// may occur more than once.
std::span<const Pass> lowering();
// Those that apply a plan's lines before splits.
std::span<const Pass> planned_passes();
// Those, and automatic fusion.
std::span<const Pass> fusing_passes();
// From the fused graph to the sharded graph.
std::span<const Pass> sharding_passes();
// The passes before the first one of this name.
std::span<const Pass> passes_before(std::string_view name);
// The pass of this name. Pre: it exists.
std::span<const Pass> pass_named(std::string_view name);
// The pass of this name; null if it does not exist.
const Pass* find_pass(std::string_view name);
// Every name once, in the order of the tables.
std::vector<std::string> pass_names();

}  // namespace tap::passes
