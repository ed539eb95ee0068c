// Axes of a mesh by name, so that tests read like texts: full(mesh, "x") is x, part(mesh, "x", 1, 2) is x:(1)2.
#pragma once

#include "ir/shardings/mesh_names.h"

namespace tap::ir {

inline AxisRef full(const Mesh& mesh, const std::string& name) { return {find_axis(mesh, name).value(), {}}; }
inline AxisRef part(const Mesh& mesh, const std::string& name, std::int64_t pre, std::int64_t size) {
  return {find_axis(mesh, name).value(), SubAxis{pre, size}};
}

}  // namespace tap::ir
