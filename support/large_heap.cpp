#include "support/large_heap.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tap {
namespace {

constexpr int mebibyte = 1 << 20;
std::atomic<bool> large = false;

// Grows the heap by allocating a block, which stays a part of the heap when it is freed.
void grow(std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = 2 * mebibyte;
  void* block = std::malloc(bytes);
  const auto at = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  if (block && first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  std::free(block);
#endif
}

}  // namespace

void use_large_heap() {
#if defined(__GLIBC__)
  if (large.exchange(true)) return;
  mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);  // the most that glibc allows
  mallopt(M_TRIM_THRESHOLD, 128 * mebibyte);
  grow(28 * mebibyte);
#endif
}

void use_large_heap_in_thread() {
  if (large) grow(12 * mebibyte);
}

}  // namespace tap
