#include "cost/machine/host.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

namespace tap::cost {
namespace {

// The first line of the file for this process's group, or for the root as seen from a container.
std::string group_file(const char* name) {
  std::string group;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::")) group = line.substr(3);
  for (const std::string& folder : {"/sys/fs/cgroup" + group, std::string("/sys/fs/cgroup")}) {
    std::ifstream file(folder + "/" + name);
    if (std::string line; std::getline(file, line)) return line;
  }
  return {};
}

}  // namespace

double threads_allowed(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  double quota = 0, period = 0;
  return words >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double memory_allowed(const std::string& memory_max) {
  std::istringstream words(memory_max);
  double bytes = 0;
  return words >> bytes && bytes > 0 ? bytes : 0;
}

std::int64_t usable_threads() {
  std::int64_t threads = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) threads = CPU_COUNT(&mask);
  if (const double allowed = threads_allowed(group_file("cpu.max")); allowed > 0)
    threads = std::min(threads, static_cast<std::int64_t>(std::ceil(allowed)));
  return std::max<std::int64_t>(threads, 1);
}

double usable_memory() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (const double allowed = memory_allowed(group_file("memory.max")); allowed > 0) bytes = std::min(bytes, allowed);
  return bytes;
}

}  // namespace tap::cost
