#include "runtime/processors.h"

#include <sched.h>
#include <stdio.h>

#include "runtime/quota.h"

namespace tap::processors {
namespace {

constexpr int longest_path = 512;

// Numbers and ranges of a file, one character at a time: a list of every other processor is long.
class ListReader {
 public:
  explicit ListReader(FILE* file) : file_(file), next_(getc(file)) {}

  bool read(Set& set) {
    while (next_ != '\n' && next_ != EOF) {
      int first = 0, last = 0;
      if (!read_number(first)) return false;
      last = first;
      if (next_ == '-' && (!advance() || !read_number(last))) return false;
      if (last < first) return false;
      for (int number = first; number <= last; ++number) set.add(number);
      if (next_ == ',' && (!advance() || next_ == '\n')) return false;
    }
    return true;
  }

 private:
  bool advance() { return (next_ = getc(file_)) != EOF; }
  bool read_number(int& number) {
    if (next_ < '0' || next_ > '9') return false;
    for (number = 0; next_ >= '0' && next_ <= '9'; next_ = getc(file_)) {
      number = number * 10 + (next_ - '0');
      if (number >= Set::most) return false;
    }
    return next_ == ',' || next_ == '-' || next_ == '\n' || next_ == EOF;
  }

  FILE* file_;
  int next_;
};

}  // namespace

int64_t Set::count() const {
  int64_t count = 0;
  for (const uint64_t word : words) count += __builtin_popcountll(word);
  return count;
}

bool Set::includes(const Set& other) const {
  for (int w = 0; w < most / 64; ++w)
    if ((other.words[w] & ~words[w]) != 0) return false;
  return true;
}

void Set::add(const Set& other) {
  for (int w = 0; w < most / 64; ++w) words[w] |= other.words[w];
}

void Set::drop(const Set& other) {
  for (int w = 0; w < most / 64; ++w) words[w] &= ~other.words[w];
}

void Set::keep(const Set& other) {
  for (int w = 0; w < most / 64; ++w) words[w] &= other.words[w];
}

bool read_allowed(Set& set) {
  set = {};
  return sched_getaffinity(0, sizeof set.words, reinterpret_cast<cpu_set_t*>(set.words)) == 0;
}

bool allow_only(const Set& set) {
  return sched_setaffinity(0, sizeof set.words, reinterpret_cast<const cpu_set_t*>(set.words)) == 0;
}

bool read_set(const char* path, Set& set) {
  set = {};
  FILE* file = fopen(path, "re");
  if (!file) return false;
  const bool is_list = ListReader(file).read(set);
  fclose(file);
  if (!is_list) set = {};
  return is_list;
}

void read_siblings(int processor, const char* folder, Set& siblings) {
  constexpr const char* names[] = {"core_cpus_list", "thread_siblings_list"};  // the second before Linux 5
  for (const char* name : names) {
    char path[longest_path];
    snprintf(path, sizeof path, "%s/cpu/cpu%d/topology/%s", folder, processor, name);
    if (read_set(path, siblings) && siblings.has(processor)) return;
  }
  siblings = {};
  siblings.add(processor);
}

int64_t count_cores(const Set& set, const char* folder) {
  Set seen, siblings;
  int64_t cores = 0;
  for (int processor = 0; processor < Set::most; ++processor) {
    if (!set.has(processor) || seen.has(processor)) continue;
    ++cores;
    read_siblings(processor, folder, siblings);
    seen.add(siblings);
  }
  return cores;
}

bool read_nodes(const char* folder, Set& nodes) {
  char path[longest_path];
  snprintf(path, sizeof path, "%s/node/online", folder);
  return read_set(path, nodes);
}

bool read_node(int node, const char* folder, Set& processors) {
  char path[longest_path];
  snprintf(path, sizeof path, "%s/node/node%d/cpulist", folder, node);
  return read_set(path, processors);
}

int64_t default_threads() {
  Set allowed;
  const int64_t cores = read_allowed(allowed) ? count_cores(allowed) : 1;
  const int64_t quota = threads_of_quota();
  const int64_t threads = quota > 0 && quota < cores ? quota : cores;
  return threads > 1 ? threads : 1;
}

}  // namespace tap::processors
