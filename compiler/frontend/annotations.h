// Meshes, shardings, groups, barriers, splits and rewrites: names resolved, form checked, kept in the graph.
#pragma once

#include "compiler/frontend/session.h"

namespace tap {

void declare_meshes(Session& session, const ModuleScope& scope);
void check_rewrites(Session& session, const ModuleScope& scope);

// The sharding that was written for a tensor of this rank; checks every invariant of form and quotes the one that is broken.
ir::Sharding resolve_sharding(Session& session, const ModuleScope& scope, const ast::Sharding& sharding,
                              std::size_t rank);

}  // namespace tap
