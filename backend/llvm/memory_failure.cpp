#include "backend/llvm/memory_failure.h"

#include <llvm/Support/ErrorHandling.h>

#include "support/memory_failure.h"

namespace tap::backend {
namespace {

void on_failed_malloc(void*, const char*, bool) {
  AllocationMustSucceed here;  // any caller is inside LLVM
  allocation_failed();
}

}  // namespace

void handle_llvm_out_of_memory() { llvm::install_bad_alloc_error_handler(on_failed_malloc); }

}  // namespace tap::backend
