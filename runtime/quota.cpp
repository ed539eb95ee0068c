#include "runtime/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace tap::processors {
namespace {

constexpr int longest_group = 4096;

// The name of the group, "/" or "/jobs/12"; empty if it is not known.
void read_group(const char* groups, char (&name)[longest_group]) {
  name[0] = 0;
  FILE* file = fopen(groups, "re");
  if (!file) return;
  char line[longest_group];
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "0::/", 4) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(name, sizeof name, "%s", line + 3);
  }
  fclose(file);
}

}  // namespace

double processors_allowed(const char* cpu_max) {
  char *after_quota = nullptr, *after_period = nullptr;
  const double quota = strtod(cpu_max, &after_quota);
  if (after_quota == cpu_max) return 0;
  const double period = strtod(after_quota, &after_period);
  return after_period != after_quota && quota > 0 && period > 0 ? quota / period : 0;
}

int64_t threads_of_quota(const char* groups, const char* folder) {
  char group[longest_group], path[2 * longest_group];
  read_group(groups, group);
  double least = 0;
  for (bool more = true; more;) {
    snprintf(path, sizeof path, "%s%s/cpu.max", folder, group);
    if (FILE* file = fopen(path, "re")) {
      char line[128] = {};
      const double allowed = fgets(line, sizeof line, file) ? processors_allowed(line) : 0;
      if (allowed > 0 && (least == 0 || allowed < least)) least = allowed;
      fclose(file);
    }
    char* last = strrchr(group, '/');
    more = last != nullptr;
    if (last) *last = 0;
  }
  constexpr int64_t most = 1000000;
  if (least >= most) return most;
  const auto whole = static_cast<int64_t>(least);
  return whole + (static_cast<double>(whole) < least);
}

}  // namespace tap::processors
