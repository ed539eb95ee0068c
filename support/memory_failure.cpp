#include "support/memory_failure.h"

#include <new>

namespace tap {
namespace {

void (*end_process)() noexcept = nullptr;
thread_local int depth = 0;

// Called by `new` before it gives up.
void on_failed_new() {
  allocation_failed();
  throw std::bad_alloc();
}

}  // namespace

void set_out_of_memory_exit(void (*end)() noexcept) {
  end_process = end;
  std::set_new_handler(on_failed_new);
}

AllocationMustSucceed::AllocationMustSucceed() { ++depth; }
AllocationMustSucceed::~AllocationMustSucceed() { --depth; }

void allocation_failed() noexcept {
  if (depth > 0 && end_process) end_process();
}

}  // namespace tap
