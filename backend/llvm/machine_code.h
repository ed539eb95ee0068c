// An optimised module as an object file or as assembly.
//
// Instructions keep the order in which the loops were emitted: a register tile loads each operand just before its
// use. LLVM's scheduler before register allocation would move the loads of a whole unrolled window to the front and
// then spill most of them.
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
