// When tapc is built with a sanitizer, the kernels that it compiles are instrumented, too: the thread sanitizer sees
// their accesses, and the address sanitizer checks them. Without this, neither would see a data race between kernels
// or a read out of bounds.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tap::backend {

// Whether this build does.
bool instruments();
// Pre: the module is optimised.
void instrument(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace tap::backend
