#include "compiler/pipeline/stage.h"

namespace tap::pipeline {

std::span<const StageInfo> stages() {
  static constexpr StageInfo all[] = {
      {Stage::built, "build", "ir::Program",
       "first: the text is parsed, names and sizes are resolved, and every access and law is proved or refused"},
      {Stage::simplified, "simplify", "ir::Program",
       "before the plan: it names operations as they are once calls are inlined and maps are composed"},
      {Stage::fused, "fuse", "ir::Program", "before sharding: a group is split as one operation"},
      {Stage::sharded, "shard", "ir::Program",
       "last of the symbolic stages: its size does not depend on the number of devices"},
      {Stage::blocks, "expand", "ir::BlockProgram",
       "once it is sharded: every application and every transfer is listed"},
      {Stage::loops, "lower", "backend::CompiledProgram", "of the listed applications: one kernel for equal ones"},
      {Stage::schedule, "schedule", "ir::Schedule", "last: tasks in order, and the memory of every buffer"},
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
