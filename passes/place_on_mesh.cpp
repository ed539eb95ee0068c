#include "passes/place_on_mesh.h"

#include <algorithm>
#include <cstdlib>

#include "ir/mesh_position.h"
#include "ir/plan_text.h"
#include "ir/sharding.h"
#include "ir/text_names.h"
#include "passes/plan_problem.h"
#include "support/plural.h"

namespace tap::passes {

using namespace ir;

namespace {

// Whether the cells that two blocks of the dim write lie between each other: y[2*i + r] cut over r.
bool interleaves(const Operator& op, std::uint32_t dim) {
  for (const Access& write : op.writes)
    for (std::size_t axis = 0; axis < write.projection.rank(); ++axis) {
      const AffineExpr& row = write.projection.start.rows[axis];
      if (row.coefficients[dim] == 0) continue;
      std::int64_t reach = write.projection.shape[axis];
      for (std::uint32_t d = 0; d < op.dims.size(); ++d)
        if (d != dim && !op.dims[d].range.empty())
          reach += std::abs(row.coefficients[d]) * (op.dims[d].range.size() - 1);
      if (std::abs(row.coefficients[dim]) < reach) return true;
    }
  return false;
}

bool shares_its_result(const Graph& graph, const Operation& operation) {
  for (const Operation& other : graph.operations)
    if (&other != &operation)
      for (ValueId v : operation.results)
        if (std::find(other.results.begin(), other.results.end(), v) != other.results.end()) return true;
  return false;
}

bool is_part_of(const MeshAxis& axis, const AxisRef& part) {
  if (!part.sub) return true;
  auto [before, size] = *part.sub;
  auto fits = [&](std::int64_t n) { return 1 <= n && n <= axis.size; };
  return fits(before) && fits(size) && axis.size % (before * size) == 0;
}

// Blocks on devices are cut first: those on threads are then within one device.
bool stands_outside(const Operator& op, const Operation& operation, std::uint32_t dim) {
  return std::none_of(op.blockings.begin(), op.blockings.end(), [&](const Blocking& b) {
    bool on_mesh = std::any_of(operation.placements.begin(), operation.placements.end(),
                               [&](auto& p) { return p.dim == b.block_dim && p.placement == Placement::mesh_axis; });
    return b.dim == dim && !on_mesh;
  });
}

// Why the axis is not free for another dim of the operation; empty if it is.
std::string why_taken(const Mesh& mesh, const Operation& operation, const PlannedSplit& split) {
  for (const BlockPlacement& other : operation.placements) {
    if (!other.axis) continue;
    if (other.mesh != split.mesh) return "`" + split.operation + "` is on the mesh `" + other.mesh + "` already";
    std::vector<std::string> faults = faults_of(Sharding{split.mesh, {{{*other.axis}}, {{*split.axis}}}}, mesh);
    if (!faults.empty())
      return "two dims of `" + split.operation + "` cannot go over `" + to_string(*other.axis) + "` and `" +
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

// Of an axis that the plan names alone, and that no mesh has, or more than one.
PlanProblem no_mesh_has(const Program& program, const std::string& axis) {
  std::vector<std::string> axes, holders;
  for (const Mesh& mesh : program.meshes)
    for (const MeshAxis& own : mesh.axes) {
      axes.push_back(mesh.name + "." + own.name);
      if (own.name == axis) holders.push_back("`" + axes.back() + "`");
    }
  if (holders.empty()) return {0, no_place(axis), PlanPart::place, "", near_or_all(axis, axes, "axes")};
  return {0, "several meshes have an axis `" + axis + "`", PlanPart::place, "", "write one of " + joined(holders)};
}

}  // namespace

std::optional<PlanProblem> why_not_over_axis(const Program& program, Place place, std::uint32_t dim,
                                             const PlannedSplit& split) {
  const Graph& graph = program[place.graph];
  const Operation& operation = graph[place.operation];
  const Operator& op = program[operation.op];
  auto problem = [](PlanPart part, std::string message, std::string help = "") {
    return PlanProblem{0, std::move(message), part, "", std::move(help)};
  };
  const Mesh* mesh = find_mesh(program, split.mesh);
  if (!mesh && split.mesh.empty()) return no_mesh_has(program, split.axis->name);
  if (!mesh)
    return problem(PlanPart::place, "there is no mesh `" + split.mesh + "`",
                   program.meshes.empty() ? "the program declares none: mesh pod = [data: 2]"
                                          : near_or_all(split.mesh, names_of(program.meshes), "meshes"));
  const MeshAxis* axis = find_axis(*mesh, split.axis->name);
  if (!axis)
    return problem(PlanPart::place, "the mesh `" + mesh->name + "` has no axis `" + split.axis->name + "`",
                   near_or_all(split.axis->name, names_of(mesh->axes), "axes"));
  if (!is_part_of(*axis, *split.axis))
    return problem(PlanPart::place, "`" + to_string(*split.axis) + "` is not a part of `" + axis->name +
                                        "`, which has " + plural(axis->size, "place") +
                                        ": what stands before it and its size divide that");
  std::int64_t places = size_of(*mesh, *split.axis);
  if (places != split.blocks.count)
    return problem(PlanPart::number,
                   plural(split.blocks.count, "block") + " for the axis `" + to_string(*split.axis) + "`, which has " +
                       plural(places, "place"),
                   "write `into " + std::to_string(places) + "`");
  if (!stands_outside(op, operation, dim))
    return problem(PlanPart::dim,
                   "`" + split.dim + "` is cut over threads or a loop already; what goes over a mesh is cut first");
  if (shares_its_result(graph, operation))
    return problem(PlanPart::dim, "others write a part of what `" + split.operation +
                                      "` writes, and a device would hold two boxes of it: such blocks go over threads "
                                      "or a loop");
  if (interleaves(op, dim))
    return problem(PlanPart::dim, "the blocks of `" + split.dim + "` lie between each other in what `" +
                                      split.operation + "` writes, so that no device would hold a box of it");
  std::string taken = why_taken(*mesh, operation, split);
  if (!taken.empty()) return problem(PlanPart::place, std::move(taken));
  return std::nullopt;
}

}  // namespace tap::passes
