#include "cost/machine/host.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/quota.h"

namespace tap::cost {
namespace {

bool siblings_count = false;  // of the process, as its affinity mask is

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

double memory_allowed(const std::string& memory_max) {
  std::istringstream words(memory_max);
  double bytes = 0;
  return words >> bytes && bytes > 0 ? bytes : 0;
}

void count_siblings() { siblings_count = true; }

std::int64_t threads_on(const processors::Set& set) {
  return siblings_count ? set.count() : processors::count_cores(set);
}

std::int64_t usable_threads() {
  processors::Set allowed;
  if (!siblings_count || !processors::read_allowed(allowed)) return processors::default_threads();
  const std::int64_t quota = processors::threads_of_quota();
  return quota > 0 ? std::min(quota, threads_on(allowed)) : threads_on(allowed);
}

double usable_memory() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (const double allowed = memory_allowed(group_file("memory.max")); allowed > 0) bytes = std::min(bytes, allowed);
  return bytes;
}

}  // namespace tap::cost
