// isl is linked statically, with --wrap (cmake/dependencies.cmake): its calls of malloc and similar functions, and
// ours, are redirected here.
#include "compiler/frontend/proofs/isl_memory.h"

#include <gmp.h>

#include <cstddef>
#include <cstdlib>

namespace tap {
namespace {

void* looked_at(void* memory, std::size_t bytes) {
  if (!memory && bytes > 0) allocation_failed();
  return memory;
}

void* allocate_number(std::size_t bytes) {
  InIsl isl_guard;
  return std::malloc(bytes);
}
void* resize_number(void* old, std::size_t, std::size_t bytes) {
  InIsl isl_guard;
  return std::realloc(old, bytes);
}
void free_number(void* memory, std::size_t) { std::free(memory); }

}  // namespace

void handle_isl_out_of_memory() { mp_set_memory_functions(allocate_number, resize_number, free_number); }

}  // namespace tap

// The linker's names.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* old, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes) { return tap::looked_at(__real_malloc(bytes), bytes); }
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  return tap::looked_at(__real_calloc(count, bytes), count * bytes);
}
void* __wrap_realloc(void* old, std::size_t bytes) { return tap::looked_at(__real_realloc(old, bytes), bytes); }
// NOLINTEND(bugprone-reserved-identifier)
}
