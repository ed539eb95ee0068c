// One sweep over a program. search() (sharding_search.h) joins the plans of several.
#pragma once

#include <optional>

#include "cost/search/sharding_search.h"

namespace tap::cost {

// Inputs in parts and stages save memory, and only take time where it is not short.
inline bool memory_is_short(const SearchOptions& options) {
  return options.limits.at_most.memory < unlimited || options.limits.goal == Goal::memory;
}

// `start`: lines that the plans have where they can. `stages`: operations are not divided over this axis; each runs at one of
// its coordinates, in order. Pre: with stages, may_have_stages().
FoundFront search_once(const ir::Program& program, ir::MeshId mesh, const SearchOptions& options, const ir::Plan& start,
                       std::optional<ir::AxisId> stages);

}  // namespace tap::cost
