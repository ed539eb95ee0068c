// A module that has been optimised as an object or as assembly.
//
// Instructions stay in the order in which the loops were emitted: a register tile takes each operand when it is due. LLVM's
// scheduler before register allocation brings the loads of a whole unrolled window forward, and then spills most of them.
#pragma once

#include <cstdint>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

enum class CodeFile : std::uint8_t { object, assembly };
std::string machine_code(llvm::Module& module, llvm::TargetMachine& machine, CodeFile file);

}  // namespace tap::backend
