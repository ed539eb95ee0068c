#include "compiler/pipeline/pipeline.h"

#include "compiler/pipeline/limits.h"
#include "compiler/pipeline/proof.h"
#include "compiler/pipeline/steps.h"
#include "cost/model/task_times.h"
#include "ir/block_program.h"
#include "passes/splits/expand.h"
#include "support/phase.h"

namespace tap::pipeline {

const ir::BlockProgram* Compilation::expanded() const {
  if (lowered) return &lowered->blocks;
  return blocks ? &*blocks : nullptr;
}

ir::BlockProgram Compilation::take_blocks() {
  ir::BlockProgram taken = std::move(*blocks);
  blocks.reset();
  return taken;
}

// Outputs have their names in the text: `Y = X` gives one value two names.
static ir::Schedule scheduled(const Compilation& made, backend::ScheduleOptions how, const ir::Machine& machine) {
  if (!how.output_names && !made.source.results.empty()) how.output_names = &made.source.results;
  how.times = [&](const ir::Schedule& ordered) {
    return cost::task_times(ordered, made.lowered->kernels.kernels, machine);
  };
  return backend::schedule(made.lowered->blocks, made.lowered->kernels, how);
}

Compilation compile(Source source, const Options& options, const Observer& observer) {
  Steps steps(std::move(source), options, observer);
  auto reaches = [&](Stage stage) { return steps.begin() < stage && stage <= options.stop; };

  // Text → syntax trees of the file and of the modules that it uses.
  if (reaches(Stage::parsed)) steps.parse();

  // Syntax trees → graph for the given sizes: every access is proved legal and every law is decided during construction.
  if (reaches(Stage::built)) steps.build();

  // Graph → plan: the cost model decides what the user's plan leaves open.
  if (reaches(Stage::decided)) steps.decide();

  // Graph → graph: calls inlined, cells simplified, rewrites offered and picked, maps composed.
  if (reaches(Stage::simplified)) steps.run(steps.simplifying());

  // Iterates unrolled, operations fused into groups: as planned, and where it reduces memory traffic.
  if (reaches(Stage::fused)) steps.run(passes::planned_passes());
  if (reaches(Stage::fused) && options.fuse_more) steps.run(passes::pass_named("fuse_auto"));

  // Shardings are propagated and become splits; splits are applied; transfers provide the cells that a reader's device lacks.
  if (reaches(Stage::sharded)) steps.run(passes::sharding_passes());
  Compilation made = steps.finish();
  if (made.verdict.refused()) return made;

  // One symbolic graph → every application and every transfer.
  if (reaches(Stage::blocks)) {
    require_listable(made.program);
    require_addressable(made.program);
    made.blocks = passes::expand(made.program);
    prove_blocks(made, options);
  }
  if (made.verdict.refused()) return made;

  // Distinct applications → kernels, as loop nests.
  if (reaches(Stage::loops)) {
    require_countable(made.program);
    made.lowered = backend::lower(made.take_blocks(), options.caution.strict_fp, options.machine);
  }

  // Applications and transfers → ordered tasks, buffers, messages. Code is emitted from kernels and schedule (backend/llvm/).
  if (reaches(Stage::schedule)) {
    made.schedule = scheduled(made, options.scheduling, options.machine);
    if (options.scheduling_of_jobs)
      made.schedule_of_jobs = scheduled(made, *options.scheduling_of_jobs, options.machine);
    prove_schedule(made, options);
  }
  return made;
}

}  // namespace tap::pipeline
