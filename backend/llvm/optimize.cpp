#include "backend/llvm/optimize.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/llvm/passes/exact_masks.h"
#include "backend/llvm/passes/idle_lanes.h"
#include "backend/llvm/passes/narrow_masks.h"
#include "backend/llvm/passes/run_passes.h"
#include "backend/llvm/passes/strength_reduction.h"
#include "backend/llvm/passes/vector_minima.h"
#include "support/check.h"

namespace tap::backend {

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  TAP_CHECK(!llvm::verifyModule(module, &stream), "the emitted LLVM IR is malformed: " + problem);
  run_passes(module, machine, [](llvm::PassBuilder& builder, ModulePasses& passes) {
    passes.addPass(builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2));
  });
  make_masks_exact(module);
  skip_idle_lanes(module);
  widen_narrow_masks(module, machine);
  shorten_minima(module, machine);
  reduce_strength(module, machine);
}

}  // namespace tap::backend
