#include "cost/model/device_memory.h"

#include <algorithm>
#include <set>

#include "backend/compiled_program.h"
#include "ir/block_program.h"
#include "ir/graph.h"

namespace tap::cost {

using namespace ir;

namespace {

class Memory {
 public:
  Memory(const BlockProgram& blocks, std::int64_t device)
      : blocks_(blocks), program_(blocks.program), device_(device) {}

  // `is_main`: its outputs are the caller's, and do not count.
  double peak(GraphId id, bool is_main) const {
    const BlockGraph graph = by_device(blocks_.graphs[id.index()]);
    constexpr std::size_t never = ~std::size_t{0};
    std::vector<std::size_t> first(graph.held.size(), never), last(graph.held.size(), 0);
    for (std::size_t t = 0; t < graph.tasks.size(); ++t)
      for (HeldId held : touched_by(graph.tasks[t])) {
        first[held.index()] = std::min(first[held.index()], t);
        last[held.index()] = std::max(last[held.index()], t);
      }
    std::set<HeldId> given(graph.inputs.begin(), graph.inputs.end());
    for (const std::vector<HeldId>& output : graph.outputs)
      for (HeldId held : output) {
        if (is_main) given.insert(held);
        else last[held.index()] = graph.tasks.size();
      }
    std::vector<double> change(graph.tasks.size() + 2, 0);
    for (std::size_t h = 0; h < graph.held.size(); ++h) {
      if (first[h] == never || given.count(HeldId(h)) || !is_here(graph.held[h].device)) continue;
      change[first[h]] += bytes_of(program_[graph.graph], graph.held[h]);
      change[last[h] + 1] -= bytes_of(program_[graph.graph], graph.held[h]);
    }
    double now = 0, most = 0;
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      now += change[t];
      most = std::max(most, now + inside(graph, graph.tasks[t]));
    }
    return most;
  }

 private:
  bool is_here(std::int64_t device) const { return device == device_ || device == everywhere; }

  static std::vector<HeldId> touched_by(const Task& task) {
    std::vector<HeldId> touched;
    if (auto* application = std::get_if<Application>(&task)) {
      for (const auto* list : {&application->operands, &application->results})
        for (HeldMember one : *list) touched.push_back(one.id);
    } else {
      touched = {std::get<Move>(task).from.id, std::get<Move>(task).to.id};
    }
    return touched;
  }

  static double bytes_of(const Graph& graph, const Held& held) {
    return static_cast<double>(held.box.size()) * static_cast<double>(count_of(held.row)) *
           static_cast<double>(size_of(graph[held.value].type.element));
  }

  // What the body of an `iterate` needs while it runs.
  double inside(const BlockGraph& graph, const Task& task) const {
    auto* application = std::get_if<Application>(&task);
    if (!application || !is_here(application->device)) return 0;
    const RegionBody* region = program_[program_[graph.graph][application->operation].op].region();
    return region && region->kind == RegionKind::iterate ? peak(region->graph, false) : 0;
  }

  const BlockProgram& blocks_;
  const Program& program_;
  std::int64_t device_;
};

}  // namespace

double peak_bytes_of_device(const backend::CompiledProgram& lowered, std::int64_t device) {
  return Memory(lowered.blocks, device).peak(lowered.blocks.program.main, true);
}

}  // namespace tap::cost
