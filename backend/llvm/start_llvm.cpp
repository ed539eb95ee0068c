#include "backend/llvm/start_llvm.h"

#include <mutex>

// The bounds of the section that has LLVM's constructors; null if it is linked as usual, where they run before main.
extern "C" {
using Constructor = void (*)();
extern const Constructor __start_tap_llvm_start[] __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)
extern const Constructor __stop_tap_llvm_start[] __attribute__((weak));   // NOLINT(bugprone-reserved-identifier)
}

namespace tap::backend {

void start_llvm() {
  static std::once_flag started;
  std::call_once(started, [] {
    for (const Constructor* one = __start_tap_llvm_start; one != __stop_tap_llvm_start; ++one) (*one)();
  });
}

}  // namespace tap::backend
