#include "backend/memory_failure.h"

#include <llvm/Support/ErrorHandling.h>

#include <new>

namespace tap::backend {
namespace {

void (*end_process)() noexcept = nullptr;
thread_local int depth = 0;

void on_failed_malloc(void*, const char*, bool) { end_process(); }

// Called by `new` before it gives up.
void on_failed_new() {
  if (depth > 0) end_process();
  throw std::bad_alloc();
}

}  // namespace

void end_where_llvm_has_no_memory(void (*end)() noexcept) {
  end_process = end;
  llvm::install_bad_alloc_error_handler(on_failed_malloc);
  std::set_new_handler(on_failed_new);
}

InLlvm::InLlvm() { ++depth; }
InLlvm::~InLlvm() { --depth; }

}  // namespace tap::backend
