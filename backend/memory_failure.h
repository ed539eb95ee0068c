// What happens where LLVM is refused memory. LLVM is built without exceptions: an allocation that fails in it can neither
// throw nor return, so the process ends there, in order, by a function that its owner gives.
//
//   end_where_llvm_has_no_memory(end_without_memory);
#pragma once

namespace tap::backend {

// `end` must not return, nor allocate. For the whole process, also for `new` in LLVM's frames; elsewhere that throws.
void end_where_llvm_has_no_memory(void (*end)() noexcept);

// This thread is in LLVM while it lives.
class InLlvm {
 public:
  InLlvm();
  ~InLlvm();
  InLlvm(const InLlvm&) = delete;
  InLlvm& operator=(const InLlvm&) = delete;
};

// So is what allocates while it is destroyed, where nothing may be thrown: values of nlohmann::json.
using WhereNewMayNotThrow = InLlvm;

}  // namespace tap::backend
