// Meshes, shardings, groups, barriers, splits and rewrites: resolves names, checks the form, records them in the
// graph.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"
#include "ir/shardings/sharding.h"

namespace tap {

void declare_meshes(Elaboration& elaboration, const ModuleScope& scope);
void check_rewrites(Elaboration& elaboration, const ModuleScope& scope);

// The sharding that the source gives such a tensor; checks its form and reports what is violated.
ir::Sharding resolve_sharding(Elaboration& elaboration, const ModuleScope& scope, const ast::Sharding& sharding,
                              const ir::TensorType& type);
ir::MeshId mesh_named(Elaboration& elaboration, const ModuleScope& scope, const ast::Name& name);
// The part of a mesh axis in the source, `model:(1)2`.
ir::AxisRef resolve_axis(Elaboration& elaboration, const ir::Mesh& mesh, const ast::AxisRef& axis);

}  // namespace tap
