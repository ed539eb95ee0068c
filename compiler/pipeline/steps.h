// The steps from graph to graph: runs passes one list after another and keeps what the certificate needs of them.
#pragma once

#include <span>

#include "compiler/pipeline/pipeline.h"

namespace tap::pipeline {

class Steps {
 public:
  Steps(ir::Program source, const Options& options, const Observer& observer);

  // Throws PlanRefused for decisions that cannot be applied, and Failure for an error of a pass.
  void run(std::span<const passes::Pass> list);
  // With the checker's verdict on all steps.
  Compilation finish();

 private:
  const Options& options_;
  const Observer& observer_;
  passes::PassContext context_;  // with the plan as passes have completed it
  Compilation made_;
};

}  // namespace tap::pipeline
