// tapc cost FILE: how long a program will take, term by term, without running it.
//
//   tapc cost mlp.tap
//   tapc cost mlp.tap --plan=mlp.plan --machine=server.toml --threads=8
//   tapc cost mlp.tap --json                every number as it is
#ifdef TAP_HAVE_BACKEND
#include <CLI/CLI.hpp>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/choices.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/read_stage.h"
#include "compiler/driver/show/cost_table.h"
#include "compiler/driver/work.h"
#include "support/phase.h"

namespace tap::driver {
namespace {

struct CostOptions {
  std::string file, plan, machine;
  std::int64_t threads = 1;
  bool fuse = false, json = false;
  SourceOptions source;
};

MemoryCost memory_of(const ir::Schedule& schedule, const std::vector<backend::Kernel>& kernels, std::int64_t threads) {
  MemoryCost memory;
  for (const ir::ProgramTensor& input : schedule.inputs) memory.inputs += bytes_of(input.type);
  for (const ir::ProgramTensor& output : schedule.outputs) memory.outputs += bytes_of(output.type);
  memory.arena = static_cast<double>(schedule.arena_bytes);
  memory.prepared = static_cast<double>(schedule.prepared_bytes);
  memory.scratch = static_cast<double>(backend::most_scratch(kernels)) * static_cast<double>(threads);
  return memory;
}

pipeline::Compilation scheduled(Session& session, const CostOptions& options, const ir::Machine& machine) {
  PassOptions passes;
  passes.plan = read_plan(session, options.plan);
  passes.fuse = options.fuse;
  passes.verify = false;
  const FileId file = read_source(session, options.file);
  const CompileOptions how = compile_options(options.source);
  Compiled compiled = compile_or_read(session, file, how);
  require_inputs(compiled, options.source);
  Rewrites rewrites(session, file, how);
  passes.rules = rewrites.chosen_from(passes.plan);
  take(passes, options.source);
  pipeline::Options wanted = pipeline_options(passes, pipeline::Stage::schedule);
  wanted.machine = machine;
  Dumps none(session, passes);
  return compile(session, std::move(compiled.program), std::move(wanted), passes, none);
}

int predict(Session& session, const CostOptions& options) {
  cost::Cluster cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  const pipeline::Compilation made = scheduled(session, options, cluster.types.front().core);
  Phase phase("predicting the cost");
  cost::Model model(std::move(cluster), options.threads);
  const std::vector<backend::Kernel>& kernels = made.lowered->kernels.kernels;
  CostReport report{options.file, model.of(cost::trace_of(*made.schedule, kernels), kernels),
                    memory_of(*made.schedule, kernels, options.threads)};
  session.print(options.json ? cost_json(report, model) : cost_table(report, model));
  return exit_code::done;
}

}  // namespace

Action declare_cost(CLI::App& app) {
  auto options = std::make_shared<CostOptions>();
  app.add_option("FILE", options->file, "A source file or a stage text")->required();
  app.add_option("--plan", options->plan, "A plan: what to fuse and split, and where to place the blocks");
  app.add_flag("--fuse", options->fuse, "Fuse operations into groups, so that values between them need no full buffer");
  app.add_option("--threads", options->threads, "Number of threads for native code")->check(CLI::Range(1, 4096));
  add_machine_option(app, options->machine);
  app.add_flag("--json", options->json, "Print JSON (docs/schema/cost.schema.json)");
  add_source_options(app, options->source);
  add_reshard_option(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return predict(session, *options); };
}

}  // namespace tap::driver
#endif
