#include "backend/llvm/machine_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/CodeGen/CodeGenTargetMachineImpl.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "support/check.h"

namespace tap::backend {

// Like TargetMachine::addPassesToEmitFile, without one pass.
std::string machine_code(llvm::Module& module, llvm::TargetMachine& machine, CodeFile file) {
  auto type = file == CodeFile::object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  auto& target = static_cast<llvm::CodeGenTargetMachineImpl&>(machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&target);  // owned by the pass manager
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  config->disablePass(&llvm::MachineSchedulerID);
  passes.add(config);
  passes.add(functions);
  TAP_CHECK(!config->addISelPasses(), "LLVM cannot select instructions for this target");
  config->addMachinePasses();
  config->setInitialized();
  TAP_CHECK(!target.addAsmPrinter(passes, out, nullptr, type, functions->getMMI().getContext()),
            "LLVM cannot write this kind of file");
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace tap::backend
