#include "support/memory_failure.h"

#include <new>

namespace tap {
namespace {

void (*end_process)() noexcept = nullptr;
thread_local int depth = 0;

// Called by `new` before it gives up.
void on_failed_new() {
  memory_was_refused();
  throw std::bad_alloc();
}

}  // namespace

void end_where_memory_must_suffice(void (*end)() noexcept) {
  end_process = end;
  std::set_new_handler(on_failed_new);
}

MemoryMustSuffice::MemoryMustSuffice() { ++depth; }
MemoryMustSuffice::~MemoryMustSuffice() { --depth; }

void memory_was_refused() noexcept {
  if (depth > 0 && end_process) end_process();
}

}  // namespace tap
