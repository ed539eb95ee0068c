#include "backend/llvm/optimize.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/llvm/passes/exact_masks.h"
#include "backend/llvm/passes/idle_lanes.h"
#include "backend/llvm/passes/narrow_masks.h"
#include "backend/llvm/passes/run_passes.h"
#include "backend/llvm/passes/strength_reduction.h"
#include "backend/llvm/passes/vector_minima.h"
#include "support/check.h"

namespace tap::backend {

namespace {

// What kernels need of LLVM's -O2, in half of its time. Kernels have no calls, so nothing is inlined; their loops are already
// tiled, unrolled and in lanes; and strength reduction (below) does not need canonical induction variables.
constexpr const char* cleaning =
    "function<eager-inv>("
    // Accumulators in registers, equal addresses once.
    "mem2reg,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"
    // What does not change in a loop leaves it; empty loops disappear.
    "loop-mssa(loop-instsimplify,licm<no-allowspeculation>,loop-rotate,licm,simple-loop-unswitch),simplifycfg,"
    "loop(loop-deletion),vector-combine,gvn,bdce,dse,loop-mssa(licm),"
    // Scalar loops, and short ones, such as those over a row.
    "loop-vectorize,loop-unroll<O2>,instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg),"
    "globaldce";

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  TAP_CHECK(!llvm::verifyModule(module, &stream), "the emitted LLVM IR is malformed: " + problem);
  run_passes(module, machine, [](llvm::PassBuilder& builder, ModulePasses& passes) {
    llvm::Error error = builder.parsePassPipeline(passes, cleaning);
    TAP_CHECK(!error, "LLVM does not know a pass: " + llvm::toString(std::move(error)));
  });
  make_masks_exact(module);
  skip_idle_lanes(module);
  widen_narrow_masks(module, machine);
  shorten_minima(module, machine);
  reduce_strength(module, machine);
}

}  // namespace tap::backend
