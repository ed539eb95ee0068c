// Memory for tensors. Large blocks are aligned to huge pages and request them, which reduces TLB misses and page
// faults. On systems without huge pages, normal pages are used.
//
// Also used by the executor, which is part of every compiled library, so it does not need the C++ library.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "support/alignment.h"

namespace tap {

// Null if out of memory. Release with free().
inline void* large_memory(uint64_t bytes) {
  constexpr uint64_t page = uint64_t{2} << 20, large = 2 * page;
  const uint64_t unit = bytes >= large ? page : uint64_t{buffer_alignment};
  if (bytes > UINT64_MAX / 2) return nullptr;
  const uint64_t whole = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
  void* memory = aligned_alloc(unit, whole);
#ifdef MADV_HUGEPAGE
  // Only whole pages, so that no more memory is used than requested.
  if (memory && bytes >= large) madvise(memory, bytes / page * page, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace tap
