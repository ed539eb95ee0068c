// In a build of tapc that is under a sanitizer, the kernels that it compiles are under it as well: what they read and write
// is told to the thread sanitizer, or checked by the address sanitizer, as if they were compiled with the rest. Else
// two threads that write one cell, or a kernel that reads beside a tensor, would be seen by neither.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Of a module that has been optimised.
void instrument(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tap::backend
