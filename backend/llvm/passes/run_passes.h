// Runs LLVM passes over a module, with the analyses that they need.
//
//   run_passes(module, machine, [](llvm::PassBuilder& builder, ModulePasses& passes) { passes.addPass(…); });
#pragma once

#include <functional>

namespace llvm {
class Module;
class PassBuilder;
class TargetMachine;
template <typename Unit, typename... Extra>
class AnalysisManager;
template <typename Unit, typename Analyses, typename... Extra>
class PassManager;
}  // namespace llvm

namespace tap::backend {

using ModulePasses = llvm::PassManager<llvm::Module, llvm::AnalysisManager<llvm::Module>>;

void run_passes(llvm::Module& module, llvm::TargetMachine& machine,
                const std::function<void(llvm::PassBuilder& builder, ModulePasses& passes)>& choose);

}  // namespace tap::backend
