#include "compiler/pipeline/pipeline.h"

#include "compiler/pipeline/limits.h"
#include "compiler/pipeline/proof.h"
#include "compiler/pipeline/steps.h"
#include "passes/splits/expand.h"
#include "support/phase.h"

namespace tap::pipeline {

const ir::BlockProgram* Compilation::expanded() const {
#ifdef TAP_HAVE_BACKEND
  if (lowered) return &lowered->blocks;
#endif
  return blocks ? &*blocks : nullptr;
}

ir::BlockProgram Compilation::take_blocks() {
  ir::BlockProgram taken = std::move(*blocks);
  blocks.reset();
  return taken;
}

Compilation compile(ir::Program source, const Options& options, const Observer& observer) {
  auto reaches = [&](Stage stage) { return options.begin < stage && stage <= options.stop; };
  Steps steps(std::move(source), options, observer);

  // Graph → graph: calls inlined, cells simplified, rewrites offered and picked, maps composed.
  if (reaches(Stage::simplified)) steps.run(options.simplify ? *options.simplify : passes::lowering());

  // Iterates unrolled, operations fused into groups: as the plan says, and where it saves memory traffic.
  if (reaches(Stage::fused)) steps.run(passes::planned_passes());
  if (reaches(Stage::fused) && options.fuse_more) steps.run(passes::pass_named("fuse_auto"));

  // Shardings spread and become splits; splits are applied; transfers stand where a reader needs what its devices lack.
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
#ifdef TAP_HAVE_BACKEND
  if (made.verdict.refused()) return made;

  // Distinct applications → kernels, as loop nests.
  if (reaches(Stage::loops))
    made.lowered = backend::lower(made.take_blocks(), options.caution.strict_fp, options.machine);

  // Applications and transfers → ordered tasks, buffers, messages. Code is emitted from kernels and schedule (backend/llvm/).
  if (reaches(Stage::schedule)) {
    made.schedule = backend::schedule(made.lowered->blocks, made.lowered->kernels, options.scheduling);
    prove_schedule(made, options);
  }
#endif
  return made;
}

}  // namespace tap::pipeline
