#include "compiler/driver/commands/plan_divisions.h"

#include <algorithm>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/machine_file.h"
#include "cost/decide/mesh_splits.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text/plan_text.h"

namespace tap::driver {
namespace {

// With the alternatives, the unrolled steps and the groups of the plan.
ir::Program up_to_groups_of(Session& session, const DividedPlan& from) {
  PassOptions passes;
  take(passes, from.source);
  passes.plan = from.plan;
  passes.plan.meshes.clear();
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::fused);
  config.proof = pipeline::Proof::none;
  Dumps none(session, passes);
  return compile(session, read_program_file(session, from.file, from.source), std::move(config), passes, none).program;
}

// The mesh of the first line. The plan's own are added to the program.
std::optional<ir::MeshId> mesh_of_lines(ir::Program& program, const ir::Plan& plan) {
  for (const ir::Mesh& mesh : plan.meshes)
    if (!ir::find_mesh(program.meshes, mesh.name)) program.meshes.push_back(mesh);
  for (const ir::Decision& decision : plan.decisions) {
    const auto* split = std::get_if<ir::PlannedSplit>(&decision);
    if (!split || !split->axis) continue;
    for (std::size_t m = 0; m < program.meshes.size(); ++m)
      if (split->mesh.empty() ? ir::find_axis(program.meshes[m], split->axis->name).has_value()
                              : program.meshes[m].name == split->mesh)
        return ir::MeshId(m);
  }
  return std::nullopt;
}

}  // namespace

PlanDivisions divisions_of_plan(Session& session, const DividedPlan& from,
                                const std::function<bool(const std::string&)>& is_about) {
  PlanDivisions out{{}, cluster_for(session, *backend::target_named("native"), from.machine), {}, {}};
  cost::SearchOptions search;
  search.kept = from.plan;
  std::erase_if(search.kept.decisions, [](const ir::Decision& decision) {
    return !cost::is_over_mesh(decision) && !std::holds_alternative<ir::PlannedChoice>(decision);
  });
  ir::Program program = up_to_groups_of(session, from);
  const auto mesh = mesh_of_lines(program, search.kept);
  if (!mesh) return out;
  out.mesh = program[*mesh].name;
  search.cluster = out.cluster;
  search.threads = search.cluster.types.front().threads;
  search.caution = {from.source.strict_fp, false, from.source.fast_reduce || search.kept.fast_reduce};
  cost::FoundDivisions found = cost::divisions_of(program, *mesh, search, is_about);
  out.sites = std::move(found.sites);
  for (const passes::PlanProblem& problem : found.problems)
    out.why_none.push_back(ir::decision_text(search.kept.decisions[problem.decision]));
  return out;
}

}  // namespace tap::driver
