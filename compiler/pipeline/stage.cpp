#include "compiler/pipeline/stage.h"

namespace tap::pipeline {

std::span<const StageInfo> stages() {
  static constexpr StageInfo all[] = {
      {Stage::parsed, "parse", "ParsedFile", "first: the syntax trees of the file and of the modules that it uses"},
      {Stage::built, "build", "ir::Program",
       "before anything is rewritten: resolves names and sizes, proves or refutes every access and law"},
      {Stage::decided, "decide", "ir::Plan",
       "before the choices and groups of the plan are applied: the cost model decides what the plan leaves open"},
      {Stage::simplified, "simplify", "ir::Program",
       "before the plan, which names the operations that are left once calls are inlined and maps are composed"},
      {Stage::fused, "fuse", "ir::Program", "before sharding, which splits a group as one operation"},
      {Stage::sharded, "shard", "ir::Program",
       "last of the symbolic stages, whose size does not depend on the number of devices"},
      {Stage::blocks, "expand", "ir::BlockProgram", "after sharding: lists every application and every transfer"},
      {Stage::loops, "lower", "backend::CompiledProgram", "after expansion: equal applications share one kernel"},
      {Stage::schedule, "schedule", "ir::Schedule", "last: orders the tasks and allocates every buffer"},
  };
  return all;
}

std::span<const passes::Pass> passes_of(Stage stage) {
  if (stage == Stage::simplified) return passes::lowering();
  if (stage == Stage::fused) return passes::fusing_passes();
  if (stage == Stage::sharded) return passes::sharding_passes();
  return {};
}

}  // namespace tap::pipeline
