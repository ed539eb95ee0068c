#include "compiler/driver/commands/priced_program.h"

#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/device_part.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/failures.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/planning/mesh_sizes.h"
#include "compiler/driver/work.h"
#include "compiler/pipeline/rewrite_rules.h"
#include "cost/model/device_memory.h"
#include "ir/shardings/mesh_position.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

MemoryCost memory_of(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels, std::int64_t threads) {
  MemoryCost memory;
  for (const ir::ProgramTensor& input : schedule.inputs) memory.inputs += bytes_of(input.type);
  for (const ir::ProgramTensor& output : schedule.outputs) memory.outputs += bytes_of(output.type);
  memory.arena = static_cast<double>(schedule.arena_bytes);
  memory.prepared = static_cast<double>(schedule.prepared_bytes);
  memory.scratch = static_cast<double>(backend::most_scratch(kernels)) * static_cast<double>(threads);
  return memory;
}

pipeline::Compilation compiled_to(pipeline::Stage stop, Session& session, const PricedOptions& options,
                                  const ir::Machine& machine) {
  PassOptions passes;
  read_decisions(session, options.decisions, passes);
  passes.verify = false;
  const ProgramFile program_file = read_program_file(session, options.file, options.source);
  Compiled compiled = build_file(session, program_file);
  resize_meshes(compiled.program, options.mesh);
  Diagnostics reported;  // all of them are, once the file is built
  pipeline::RewriteRules rewrites({&session.sources, program_file.file, program_file.how, &reported});
  take(passes, options.source);
  pipeline::Options config = pipeline_options(passes, stop);
  let_decide(session, options.decisions, {options.machine, "native", options.source.no_cache}, config);
  config.rules = rewrites.chosen_from(passes.plan, config.decide->start);
  config.machine = machine;
  if (stop == pipeline::Stage::sharded)  // else all devices are threads of this machine
    for (const std::vector<ir::Mesh>* meshes : {&compiled.program.meshes, &passes.plan.meshes})
      for (const ir::Mesh& mesh : *meshes) require_devices(config.decide->cluster, ir::device_count(mesh));
  Dumps none(session, passes);
  return compile(session, std::move(compiled.program), std::move(config), passes, none);
}

// All devices as threads of this machine, as `tapc run` does it.
CostReport report_of_program(const pipeline::Compilation& made, const PricedOptions& options, cost::Model& model) {
  const std::vector<backend::Kernel>& kernels = made.lowered->kernels.kernels;
  return {options.file, model.of(cost::trace_of(*made.schedule, kernels), kernels),
          memory_of(*made.schedule, kernels, options.threads)};
}

// Memory is not planned for a single device yet: this is what it holds at a time, without gaps between buffers.
CostReport report_of_device(const ir::Program& program, const PricedOptions& options, cost::Model& model) {
  require_device(program, *options.device);
  const backend::CompiledProgram lowered =
      cost::lowered_for_device(program, *options.device, options.source.strict_fp, model.device().core);
  const std::vector<backend::Kernel>& kernels = lowered.kernels.kernels;
  CostReport report{
      options.file, model.of(cost::trace_of_device(lowered, *options.device), kernels, *options.device), {}};
  report.memory.arena = cost::peak_bytes_of_device(lowered, *options.device);
  report.memory.scratch = static_cast<double>(backend::most_scratch(kernels)) * static_cast<double>(options.threads);
  return report;
}

}  // namespace

pipeline::Compilation fused_program(Session& session, const PricedOptions& options) {
  return compiled_to(pipeline::Stage::fused, session, options, {});
}

pipeline::Compilation sharded_program(Session& session, const PricedOptions& options, const ir::Machine& machine) {
  return compiled_to(pipeline::Stage::sharded, session, options, machine);
}

PricedProgram price(Session& session, const PricedOptions& given) {
  PricedOptions options = given;
  keep_to_chosen(session, options.cpus, options.machine, Purpose::predict);
  cost::Cluster cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  if (options.threads == 0) options.threads = cluster.types.front().threads;
  const pipeline::Stage stop = options.device ? pipeline::Stage::sharded : pipeline::Stage::schedule;
  pipeline::Compilation made = compiled_to(stop, session, options, cluster.types.front().core);
  Phase phase("predicting the cost");
  cost::Model model(std::move(cluster), options.threads);
  CostReport report = options.device ? report_of_device(made.program, options, model)
                                     : report_of_program(made, options, model);
  return {std::move(made), std::move(model), std::move(report)};
}

void add_priced_options(CLI::App& app, PricedOptions& options, bool with_device) {
  app.add_option("--mesh", options.mesh, "Sizes of the axes of the program's meshes: data=4,model=2")
      ->delimiter(',')
      ->allow_extra_args(false);
  if (with_device)
    app.add_option("--device", options.device,
                   "Predict the cost on this device of a mesh, with the messages that it receives (default: all "
                   "devices run as threads of this machine)")
        ->check(CLI::NonNegativeNumber);
  app.add_option("--threads", options.threads,
                 with_device ? "Number of threads of each device (default: those of the machine file, or one for each "
                               "core that this process may "
                               "use)"
                             : "Threads of each device (default: those of the machine)")
      ->check(CLI::Range(1, 4096));
  if (with_device) add_cpus_option(app, options.cpus);
  add_machine_option(app, options.machine);
  add_source_options(app, options.source);
  add_reshard_option(app, options.source);
  add_shape_option(app, options.source);
}

}  // namespace tap::driver
