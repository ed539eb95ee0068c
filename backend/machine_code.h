// A module that has been optimised as an object or as assembly.
//
// Instructions stay in the order in which the loops were emitted: a register tile takes each operand when it is due. LLVM's
// scheduler before register allocation brings the loads of a whole unrolled window forward, and then spills most of them.
#pragma once

#include <string>

#include <llvm/Support/CodeGen.h>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

std::string machine_code(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type);

}  // namespace tap::backend
