#include "passes/splits/place_on_mesh.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/text/plan_text.h"
#include "ir/text_names.h"
#include "passes/plan_problem.h"
#include "support/plural.h"

namespace tap::passes {

using namespace ir;

namespace {

bool is_part_of(const MeshAxis& axis, const AxisRef& part) {
  if (!part.sub) return true;
  auto [before, size] = *part.sub;
  auto fits = [&](std::int64_t n) { return 1 <= n && n <= axis.size; };
  return fits(before) && fits(size) && axis.size % (before * size) == 0;
}

// Why the axis is not free for another dim of the operation; empty if it is.
std::string why_taken(const Program& program, const Operation& operation, const PlannedSplit& split,
                      const MeshAxisRef& target) {
  const Mesh& mesh = program[target.mesh];
  for (const BlockPlacement& other : operation.placements) {
    if (other.placement == Placement::devices) return "`" + split.operation + "` is already placed on listed devices";
    if (!other.axis) continue;
    if (other.mesh != target.mesh)
      return "`" + split.operation + "` is already on the mesh `" + program[other.mesh].name + "`";
    std::vector<std::string> faults = faults_of(Sharding{target.mesh, {{{*other.axis}}, {{target.axis}}}}, mesh);
    if (!faults.empty())
      return "two dims of `" + split.operation + "` cannot use both `" + to_string(mesh, *other.axis) + "` and `" +
             to_string(*split.axis) + "`: " + faults.front();
  }
  return "";
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> names;
  for (const Named& one : list) names.push_back(one.name);
  return names;
}

// For an axis that is named without its mesh, and that no mesh has, or several.
PlanProblem no_mesh_has(const Program& program, const std::string& axis) {
  std::vector<std::string> axes, holders;
  for (const Mesh& mesh : program.meshes)
    for (const MeshAxis& own : mesh.axes) {
      axes.push_back(mesh.name + "." + own.name);
      if (own.name == axis) holders.push_back("`" + axes.back() + "`");
    }
  if (holders.empty()) return {0, invalid_placement(axis), PlanPart::placement, "", suggestion_for(axis, axes, "axes")};
  return {0, "several meshes have an axis `" + axis + "`", PlanPart::placement, "", "write one of " + joined(holders)};
}

std::optional<MeshId> mesh_named_by(const Program& program, const PlannedSplit& split) {
  return split.mesh.empty() ? sole_mesh_with(program.meshes, split.axis->name) : find_mesh(program.meshes, split.mesh);
}

}  // namespace

std::optional<MeshAxisRef> named_axis(const Program& program, const PlannedSplit& split) {
  const std::optional<MeshId> mesh = mesh_named_by(program, split);
  const std::optional<AxisId> axis = mesh ? find_axis(program[*mesh], split.axis->name) : std::nullopt;
  return axis ? std::optional(MeshAxisRef{*mesh, {*axis, split.axis->sub}}) : std::nullopt;
}

std::optional<PlanProblem> why_not_over_axis(const Program& program, OperationInGraph location,
                                             const PlannedSplit& split) {
  const Operation& operation = program[location.graph][location.operation];
  auto problem = [](PlanPart part, std::string message, std::string help = "") {
    return PlanProblem{0, std::move(message), part, "", std::move(help)};
  };
  const std::optional<MeshId> id = mesh_named_by(program, split);
  if (!id && split.mesh.empty()) return no_mesh_has(program, split.axis->name);
  if (!id)
    return problem(PlanPart::placement, "unknown mesh `" + split.mesh + "`",
                   program.meshes.empty() ? "the program declares no mesh; for example: mesh pod = [data: 2]"
                                          : suggestion_for(split.mesh, names_of(program.meshes), "meshes"));
  const Mesh& mesh = program[*id];
  const std::optional<MeshAxisRef> target = named_axis(program, split);
  if (!target)
    return problem(PlanPart::placement, "the mesh `" + mesh.name + "` has no axis `" + split.axis->name + "`",
                   suggestion_for(split.axis->name, names_of(mesh.axes), "axes"));
  const MeshAxis& axis = mesh[target->axis.id];
  if (!is_part_of(axis, target->axis))
    return problem(PlanPart::placement, "`" + to_string(*split.axis) + "` is not a sub-axis of `" + axis.name +
                                            "`, which has " + plural(axis.size, "position") +
                                            ": pre-size times size must divide it");
  std::int64_t positions = size_of(mesh, target->axis);
  if (split.all_at && *split.all_at >= positions)
    return problem(PlanPart::number, "position " + std::to_string(*split.all_at) + " does not exist along `" +
                                         to_string(*split.axis) + "`, which has " + plural(positions, "position") +
                                         " (counted from 0)");
  if (!split.all_at && positions != split.blocks.count)
    return problem(PlanPart::number,
                   plural(split.blocks.count, "block") + " for the axis `" + to_string(*split.axis) + "`, which has " +
                       plural(positions, "position"),
                   "write `into " + std::to_string(positions) + "`");
  std::string taken = why_taken(program, operation, split, *target);
  if (!taken.empty()) return problem(PlanPart::placement, std::move(taken));
  return std::nullopt;
}

}  // namespace tap::passes
