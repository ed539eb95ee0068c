// tapc plan FILE: searches for the splits of a program over a mesh that are predicted to be best, and writes them as a
// plan.
//
//   tapc plan mlp.tap --mesh=data=4,model=2 -o mlp.plan
//   tapc plan mlp.tap --mesh=x=8 --pick=smallest     the least memory per device
//   tapc plan mlp.tap --mesh=x=8 --list              every plan that no other beats in time, memory and traffic at once
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/mesh_sizes.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/show/run_summary.h"
#include "compiler/driver/write_outputs.h"
#include "cost/machine/host.h"
#include "cost/search/sharding_search.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_position.h"
#include "support/byte_size.h"

namespace tap::driver {
namespace {

constexpr std::string_view picks[] = {"fastest", "smallest", "least-traffic", "knee"};

struct PlanOptions {
  std::string file, machine, output, pick = "fastest";
  std::vector<std::string> mesh;  // data=4
  std::int64_t threads = 0;
  std::int64_t states = 512;
  bool list = false;
  SourceOptions source;
};

// The program's mesh with these axes; otherwise a new one.
ir::MeshId mesh_for(ir::Program& program, const std::vector<ir::MeshAxis>& axes) {
  for (std::size_t m = 0; m < program.meshes.size(); ++m)
    if (program.meshes[m].axes == axes) return ir::MeshId(m);
  ir::Mesh mesh{"grid", axes, {}};
  for (int n = 2; ir::find_mesh(program.meshes, mesh.name); ++n) mesh.name = "grid" + std::to_string(n);
  program.meshes.push_back(std::move(mesh));
  return ir::MeshId(program.meshes.size() - 1);
}

// The number of the plan with the least distance to the best of each objective.
std::size_t knee_of(const std::vector<cost::FoundPlan>& plans) {
  cost::Objectives least = plans.front().predicted;
  for (const cost::FoundPlan& plan : plans) {
    least.memory = std::min(least.memory, plan.predicted.memory);
    least.traffic = std::min(least.traffic, plan.predicted.traffic);
  }
  auto distance = [&](const cost::Objectives& own) {
    return std::log(own.seconds / least.seconds) + std::log((own.memory + 1) / (least.memory + 1));
  };
  auto best = std::min_element(plans.begin(), plans.end(), [&](const auto& a, const auto& b) {
    return distance(a.predicted) < distance(b.predicted);
  });
  return static_cast<std::size_t>(best - plans.begin());
}

// Of those that are as fast, within the accuracy of the model, the one with the least traffic.
std::size_t fastest_of(const std::vector<cost::FoundPlan>& plans) {
  constexpr double as_fast = 1.02;
  std::size_t best = 0;
  for (std::size_t k = 1; k < plans.size(); ++k)
    if (plans[k].predicted.seconds <= as_fast * plans.front().predicted.seconds &&
        plans[k].predicted.traffic < plans[best].predicted.traffic)
      best = k;
  return best;
}

std::size_t picked(const std::vector<cost::FoundPlan>& plans, const std::string& pick) {
  if (pick == "knee") return knee_of(plans);
  if (pick == "fastest") return fastest_of(plans);
  auto key = [&](const cost::Objectives& own) { return pick == "smallest" ? own.memory : own.traffic; };
  auto best = std::min_element(plans.begin(), plans.end(),
                               [&](const auto& a, const auto& b) { return key(a.predicted) < key(b.predicted); });
  return static_cast<std::size_t>(best - plans.begin());
}

std::string summary(const cost::Objectives& own) {
  return fmt::format("{}, {} per device, {} received", duration_text(own.seconds), byte_size(own.memory),
                     byte_size(own.traffic));
}

std::string list_of(const ir::Mesh& mesh, const cost::FoundFront& front) {
  std::string axes;
  for (const ir::MeshAxis& axis : mesh.axes)
    axes += fmt::format("{}{}: {}", axes.empty() ? "" : ", ", axis.name, axis.size);
  std::string out = fmt::format("mesh {} [{}], {} devices; {} strategies{}\n", mesh.name, axes, device_count(mesh),
                                front.strategies, front.fastest_is_exact ? ", searched exhaustively" : "");
  for (const cost::FoundPlan& plan : front.plans) out += summary(plan.predicted) + "\n";
  return out;
}

int plan(Session& session, const PlanOptions& options) {
  PassOptions passes;
  take(passes, options.source);
  const ProgramFile program_file = read_program_file(session, options.file, options.source);
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::simplified);
  config.proof = pipeline::Proof::none;
  Dumps none(session, passes);
  ir::Program program = compile(session, program_file, std::move(config), passes, none).program;
  const std::size_t declared = program.meshes.size();
  const ir::MeshId mesh = mesh_for(program, parse_mesh_sizes(options.mesh));

  cost::SearchOptions search;
  search.cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  search.threads = options.threads;
  search.caution = {options.source.strict_fp, false};
  search.limits.most_states = static_cast<std::size_t>(options.states);
  const cost::FoundFront front = cost::search(program, mesh, search);
  if (options.list) {
    session.print(list_of(program[mesh], front));
    return exit_code::done;
  }
  const cost::FoundPlan& best = front.plans[picked(front.plans, options.pick)];
  ir::Plan made = best.sharded.plan;
  if (program.meshes.size() > declared) made.meshes.push_back(program[mesh]);
  std::string text = ir::print(made);
  text += "// predicted: " + summary(best.predicted) + "\n";
  for (const passes::LeftWhole& left : best.sharded.left) text += "// " + to_string(left) + "\n";
  if (options.output.empty() || options.output == "-") session.print(text);
  else write_outputs(session, {{options.output, {std::move(text)}}});
  return exit_code::done;
}

}  // namespace

Action declare_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  options->threads = cost::usable_threads();
  app.add_option("FILE", options->file, "A source file or a stage text")->required();
  app.add_option("--mesh", options->mesh, "The axes of the mesh and their sizes: data=4,model=2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  app.add_option("-o,--output", options->output, "The plan to write (default: standard output)");
  app.add_option("--pick", options->pick,
                 "Which plan: fastest (default; within 2 %, the one with the least traffic), smallest (least memory "
                 "per device), least-traffic, or knee (a compromise "
                 "between time and memory)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(picks), std::end(picks))));
  app.add_flag("--list", options->list, "List every plan that no other beats in time, memory and traffic at once");
  app.add_option("--states", options->states,
                 "How many combinations of shardings the search keeps after each operation (default: 512)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", options->threads,
                 "Number of threads of each device (default: as many as this process may use)")
      ->check(CLI::Range(1, 4096));
  add_machine_option(app, options->machine);
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return plan(session, *options); };
}

}  // namespace tap::driver
