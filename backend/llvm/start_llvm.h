// Starts LLVM when it is first needed: its static objects are constructed then, not when tapc starts (cmake/llvm.cmake).
#pragma once

#include "support/memory_failure.h"

namespace tap::backend {

// May be called by several threads, and again.
void start_llvm();

// Marks this thread as being inside LLVM during its lifetime. All code that calls LLVM has one, but for its functions without static
// objects: digests, triples, the features of this processor.
class InLlvm {
 public:
  InLlvm() { start_llvm(); }

 private:
  AllocationMustSucceed guard_;
};

}  // namespace tap::backend
