#include "runtime/pinning.h"

#include <sched.h>
#include <unistd.h>

namespace tap {

std::int64_t first_pinned(std::int64_t threads, const RunPlace& place, std::int64_t allowed, std::int64_t all) {
  const bool is_bound = allowed < all;
  if (is_bound || threads < 2 || threads * place.processes != allowed) return -1;
  return threads * place.position;
}

std::int64_t first_pinned(std::int64_t threads, const RunPlace& place) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return -1;
  return first_pinned(threads, place, CPU_COUNT(&mask), sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace tap
