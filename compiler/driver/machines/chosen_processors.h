// The processors that a user gives a command, `--cpus 0-3,8`, or `cpus = "node:0"` in a machine file: from then on the process uses no
// others, so that its threads, as many as these have cores, and their pinning follow.
//
//   0-3,8        processors by their numbers
//   node:0-1     those of NUMA nodes that this process may use
//   all          all that this process may use, with a thread on each of a core's siblings
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/processors.h"

namespace tap::driver {

struct ProcessorList {
  std::vector<std::pair<int, int>> processors, nodes;  // first and last
  bool all = false;
};
// Nothing if the text is something else.
std::optional<ProcessorList> read_processor_list(const std::string& text);
inline constexpr const char* form_of_processor_list =
    "processors such as 0-3,8, nodes such as node:0 or node:0-1, or `all`";

// What is on this machine, and this process may use.
struct Processors {
  processors::Set online, allowed;
  std::string folder = processors::system_folder;
};
Processors processors_here();

struct ChosenProcessors {
  processors::Set set;
  bool is_whole = true;  // else the rest of the list is not this process's
  bool siblings = false;
};
// Throws Failure, exit 4, if the machine lacks one of them, or if this process may not use it; a process of a job has a part
// of the list, but not nothing. `from` names the list in messages.
ChosenProcessors choose(const ProcessorList& list, const std::string& from, const Processors& here, bool in_job);

// Lets this process use only these, before it has other threads. Returns whether threads may be pinned to them: not where a
// launcher has given this process a part of them, and for `all`, which restricts nothing. Throws Failure as above.
bool keep_to_processors(const ProcessorList& list, const std::string& from, bool in_job);

}  // namespace tap::driver
