#include <cstdlib>  // says whether the C library is glibc

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "compiler/driver/tapc.h"

namespace {

// Passes and searches free memory and allocate as much again, step by step. What goes back to the system between is
// cleared page by page when it returns: a quarter of the time of a large search.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int mebibyte = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);  // the most that glibc allows
  mallopt(M_TRIM_THRESHOLD, 128 * mebibyte);
  mallopt(M_TOP_PAD, 4 * mebibyte);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  return tap::driver::run_tapc(argc, argv);
}
