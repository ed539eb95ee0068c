// tapc simulate FILE: a run of a sharded program on a machine that need not be there, event by event.
//
//   tapc simulate layer.tap --machine pod.toml --mesh data=512,model=8
//   tapc simulate layer.tap --machine pod.toml --plan layer.plan --json
#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/priced_program.h"
#include "compiler/driver/device_processes.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/metrics/simulation_text.h"
#include "compiler/driver/write_outputs.h"
#include "cost/simulate/simulate.h"
#include "ir/graph.h"
#include "ir/graphs/program_hash.h"
#include "ir/shardings/mesh_position.h"
#include "support/phase.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

constexpr std::int64_t most_alone = 4096;  // devices that are simulated one by one

struct SimulateOptions : PricedOptions {
  bool json = false, every_device = false;
  std::string trace;
};

// The mesh whose devices are those of the program, in order. Null: devices are listed, or there are several meshes.
const ir::Mesh* mesh_of(const ir::Program& program, std::int64_t devices) {
  if (program.meshes.size() != 1 || !program.meshes.front().devices.empty()) return nullptr;
  return ir::device_count(program.meshes.front()) == devices ? &program.meshes.front() : nullptr;
}

int simulate_file(Session& session, const SimulateOptions& options) {
  cost::Cluster cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  const pipeline::Compilation made = sharded_program(session, options, cluster.types.front().core);
  write_decisions(session, options.decisions, made.plan);
  const ir::Program& program = made.program;
  Phase phase("simulating");
  SimulationReport report{options.file, ir::hash_of(program), {}, options.threads, {}};
  if (report.threads == 0) report.threads = cluster.types.front().threads;
  const std::int64_t devices = count_devices(program);
  const ir::Mesh* mesh = mesh_of(program, devices);
  if (mesh) report.mesh = *mesh;
  if ((!mesh || options.every_device) && devices > most_alone)
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             "the program uses " + plural(devices, "device") + ", too many to simulate each of them")
                      .help(options.every_device ? "remove `--every-device`" : "use one mesh without listed devices")};
  cost::Model model(std::move(cluster), report.threads);
  cost::DeviceParts parts(program, options.source.strict_fp, model);
  const cost::Roles roles = mesh && !options.every_device ? cost::roles_of(*mesh, parts) : cost::one_for_each(devices);
  report.run = cost::simulate(roles, parts, {.tasks = !options.trace.empty()});
  if (!options.trace.empty()) write_outputs(session, {{options.trace, {simulation_trace(report)}}});
  session.print(options.json ? simulation_json(report) : simulation_table(report));
  return exit_code::done;
}

}  // namespace

Action declare_simulate(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  add_decision_options(app, options->decisions);
  add_priced_options(app, *options, false);
  app.add_flag("--every-device", options->every_device, "Simulate every device, instead of one of each role (slow)");
  app.add_option(
      "--trace", options->trace,
      "Write when one device of each role computes and receives, in Chrome's trace format, which Perfetto opens");
  app.add_flag("--json", options->json, "Print JSON (docs/schema/simulation.schema.json)");
  return [options](Session& session) { return simulate_file(session, *options); };
}

}  // namespace tap::driver
