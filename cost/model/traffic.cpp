#include "cost/model/traffic.h"

#include <algorithm>
#include <map>

#include "ir/shardings/mesh_position.h"

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

  // What all devices compute alike, each of them receives, except from itself.
  Traffic sum() const {
    Traffic traffic = all_;
    double least_own = 0;  // of what goes to all
    if (to_all_ > 0) {
      double devices = 0;
      for (const Mesh& mesh : blocks_.program.meshes)
        devices = std::max(devices, static_cast<double>(device_count(mesh)));
      traffic.bytes += to_all_ * (devices - 1);
      traffic.messages += messages_to_all_ * (devices - 1);
      if (static_cast<double>(own_.size()) >= devices) {
        least_own = to_all_;
        for (const auto& [device, bytes] : own_) least_own = std::min(least_own, bytes);
      }
    }
    traffic.busiest = to_all_ - least_own;
    for (const auto& [device, bytes] : received_) {
      const auto own = own_.find(device);
      traffic.busiest = std::max(traffic.busiest, bytes + to_all_ - (own == own_.end() ? 0 : own->second));
    }
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
      if (to == everywhere) {
        to_all_ += bytes;
        own_[from] += bytes;
        messages_to_all_ += times;
        continue;
      }
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
  std::map<std::int64_t, double> received_;  // by device, of what goes to it alone
  double to_all_ = 0, messages_to_all_ = 0;
  std::map<std::int64_t, double> own_;  // by device, of what goes to all: what comes from it
};

}  // namespace

Traffic traffic_of(const BlockProgram& blocks) {
  Counter counter(blocks);
  counter.graph(blocks.program.main, 1);
  return counter.sum();
}

}  // namespace tap::cost
