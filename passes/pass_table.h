// The passes in order, each with the reason for its position.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "passes/pass.h"

namespace tap::passes {

// Those that always run, in their order; one may stand there more than once: from the graph that the frontend builds to the one that a plan mentions.
std::span<const Pass> lowering();
// Those that apply a plan's lines before anything is split.
std::span<const Pass> planned_passes();
// These, and the one that fuses by itself.
std::span<const Pass> fusing_passes();
// From the fused graph to the sharded graph.
std::span<const Pass> sharding_passes();
// Those that stand before the first one of that name.
std::span<const Pass> passes_before(std::string_view name);
// The one of that name. Pre: there is one.
std::span<const Pass> pass_named(std::string_view name);
// A pass by its name. Null if there is none.
const Pass* find_pass(std::string_view name);
// Every name once, in the order of the tables.
std::vector<std::string> pass_names();

}  // namespace tap::passes
