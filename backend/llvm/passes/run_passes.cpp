#include "backend/llvm/passes/run_passes.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

namespace tap::backend {

void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                const std::function<void(llvm::PassBuilder& builder, ModulePasses& passes)>& choose) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  // Kernels call no library. With one, loops that fill or copy memory would become calls of it, which code generation turns
  // back into loops, byte by byte.
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  ModulePasses passes;
  choose(builder, passes);
  passes.run(module, modules);
}

}  // namespace tap::backend
