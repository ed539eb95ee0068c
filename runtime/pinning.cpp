#include "runtime/pinning.h"

#include <unistd.h>

#include <algorithm>

namespace tap {
namespace {

// The nodes that have processors, in the order of their numbers.
std::vector<std::pair<int, processors::Set>> nodes_in(const char* folder) {
  std::vector<std::pair<int, processors::Set>> nodes;
  processors::Set numbers, processors;
  processors::read_nodes(folder, numbers);
  for (int node = 0; node < processors::Set::most; ++node)
    if (numbers.has(node) && processors::read_node(node, folder, processors) && processors.count() > 0)
      nodes.emplace_back(node, processors);
  return nodes;
}

}  // namespace

std::vector<Core> cores_of(const processors::Set& allowed, const char* folder) {
  const auto nodes = nodes_in(folder);
  processors::Set left = allowed, siblings;
  std::vector<Core> cores;
  for (int first = 0; first < processors::Set::most; ++first) {
    if (!left.has(first)) continue;
    processors::read_siblings(first, folder, siblings);
    Core core;
    for (const auto& [node, processors] : nodes)
      if (processors.has(first)) core.node = node;
    for (int processor = first; processor < processors::Set::most; ++processor) {
      if (!left.has(processor) || !siblings.has(processor)) continue;
      core.siblings.push_back(processor);
      left.remove(processor);
    }
    cores.push_back(std::move(core));
  }
  std::ranges::stable_sort(cores, {}, &Core::node);
  return cores;
}

std::vector<std::int32_t> pinned_to(std::int64_t threads, const RunPlace& place, const std::vector<Core>& cores) {
  const std::int64_t of_all = threads * place.processes;
  std::vector<std::int32_t> first, others;  // of this process
  std::int64_t processors = 0;
  for (const Core& core : cores) processors += static_cast<std::int64_t>(core.siblings.size());
  const bool takes_cores = of_all == static_cast<std::int64_t>(cores.size());
  if (threads < 2 || (!takes_cores && of_all != processors)) return {};
  // Processes have whole cores, as far as these divide; within one, its first threads have a core each.
  std::int64_t number = -threads * place.position;
  for (const Core& core : cores)
    for (const int processor : core.siblings) {
      const bool is_first = processor == core.siblings.front();
      if (takes_cores && !is_first) continue;
      if (number >= 0 && number < threads) (is_first ? first : others).push_back(processor);
      ++number;
    }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

OwnProcessors own_processors(bool chosen) {
  OwnProcessors own{{}, sysconf(_SC_NPROCESSORS_ONLN), chosen};
  processors::read_allowed(own.allowed);
  return own;
}

std::vector<std::int32_t> pinned_to(std::int64_t threads, const RunPlace& place, const OwnProcessors& own,
                                    const char* folder) {
  const bool is_bound = own.allowed.count() < own.on_machine;
  if (threads < 2 || (is_bound && !own.chosen)) return {};
  return pinned_to(threads, place, cores_of(own.allowed, folder));
}

}  // namespace tap
