#include "cost/model/traffic.h"

#include <algorithm>
#include <map>

namespace tap::cost {

using namespace ir;

namespace {

class Counter {
 public:
  explicit Counter(const BlockProgram& blocks) : blocks_(blocks) {}

  void graph(GraphId id, double times) {
    const BlockGraph& graph = blocks_.graphs[id.index()];
    for (const Task& task : graph.tasks) {
      if (auto* move = std::get_if<Move>(&task)) add(graph, *move, times);
      else inside(graph, std::get<Application>(task), times);
    }
  }

  Traffic sum() const {
    Traffic traffic = all_;
    for (const auto& [device, bytes] : received_) traffic.busiest = std::max(traffic.busiest, bytes);
    return traffic;
  }

 private:
  void add(const BlockGraph& graph, const Move& row, double times) {
    const double element =
        static_cast<double>(size_of(blocks_.program[graph.graph][graph[row.to.id].value].type.element));
    for (const Move& move : members(row)) {
      const std::int64_t from = graph.device_at(graph[move.from].device), to = graph.device_at(graph[move.to].device);
      if (from == to || from == everywhere) continue;
      const double bytes = times * element * static_cast<double>(move.box.size());
      received_[to] += bytes;
      all_.bytes += bytes;
      all_.messages += times;
    }
  }
  void inside(const BlockGraph& graph, const Application& application, double times) {
    const Operation& operation = blocks_.program[graph.graph][application.operation];
    const RegionBody* region = blocks_.program[operation.op].region();
    if (region && region->kind == RegionKind::iterate)
      this->graph(region->graph, times * static_cast<double>(region->trips.size() * count_of(application.row)));
  }

  const BlockProgram& blocks_;
  Traffic all_;
  std::map<std::int64_t, double> received_;
};

}  // namespace

Traffic traffic_of(const BlockProgram& blocks) {
  Counter counter(blocks);
  counter.graph(blocks.program.main, 1);
  return counter.sum();
}

}  // namespace tap::cost
