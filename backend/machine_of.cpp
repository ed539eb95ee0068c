#include "backend/machine_of.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>

#include "backend/llvm/library.h"

namespace tap::backend {
namespace {

using ir::Machine;

// A core's share of the first cache of a level, or the default if the system reports none.
std::int64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t level, std::int64_t assumed) {
  if (hwloc_get_nbobjs_by_type(topology, level) < 1) return assumed;
  hwloc_obj_t cache = hwloc_get_obj_by_type(topology, level, 0);
  auto bytes = static_cast<std::int64_t>(cache->attr->cache.size);
  int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset, HWLOC_OBJ_CORE);
  return bytes > 0 ? std::max<std::int64_t>(bytes / std::max(cores, 1), 4096) : assumed;
}

// Without hwloc's plugins, which find other devices and load graphics libraries: 10 ms.
bool begin(hwloc_topology_t& topology) {
  constexpr const char* variable = "HWLOC_PLUGINS_PATH";
  const bool chosen = std::getenv(variable) != nullptr;
  if (!chosen) ::setenv(variable, "", 0);
  const bool begun = hwloc_topology_init(&topology) == 0;
  if (!chosen) ::unsetenv(variable);  // MPI's hwloc may need them
  return begun;
}

Machine with_caches_found(Machine machine) {
  hwloc_topology_t topology;
  if (!begin(topology)) return machine;
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) == 0) {
    machine.l1_bytes = cache_bytes(topology, HWLOC_OBJ_L1CACHE, machine.l1_bytes);
    machine.l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE, machine.l2_bytes);
    // A virtual machine often reports the third-level cache of a whole host, which it shares with others.
    machine.l3_bytes = std::min(cache_bytes(topology, HWLOC_OBJ_L3CACHE, machine.l3_bytes), machine.l3_bytes);
  }
  hwloc_topology_destroy(topology);
  return machine;
}

}  // namespace

Machine machine_of(const Target& target) {
  Machine machine;
  const std::vector<std::string> features = features_of(target);
  auto has = [&](const char* feature) {
    return std::find(features.begin(), features.end(), feature) != features.end();
  };
  if (!has("avx512f")) {
    machine.vector_bytes = has("avx") ? 32 : 16;
    machine.vector_registers = target.triple.starts_with("aarch64") ? 32 : 16;
  }
  if (target.name != "native") return machine;
  static const Machine native = with_caches_found(machine);  // first called before there are threads
  return native;
}

}  // namespace tap::backend
