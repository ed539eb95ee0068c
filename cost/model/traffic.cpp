#include "cost/model/traffic.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/graphs/iterate_state.h"
#include "ir/shardings/mesh_position.h"

namespace tap::cost {

using namespace ir;

namespace {

class Counter {
 public:
  explicit Counter(const BlockProgram& blocks) : blocks_(blocks) {}

  void graph(GraphId id, double times) {
    const BlockGraph& graph = blocks_.graphs[id.index()];
    const Holders holders = holders_of(graph);
    for (const Task& task : graph.tasks) {
      if (auto* move = std::get_if<Move>(&task)) add(graph, holders, *move, times);
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
  using Ends = std::vector<std::pair<std::int64_t, std::int64_t>>;
  using Holders = std::map<std::pair<ValueId, Ends>, std::vector<std::int64_t>>;  // of a box of a value
  static Ends ends_of(const Box& box) {
    Ends ends;
    for (const Range& range : box.dims) ends.emplace_back(range.lo, range.hi);
    return ends;
  }
  static Holders holders_of(const BlockGraph& graph) {
    Holders holders;
    for (const Held& row : graph.held)
      if (row.device != everywhere)
        for (const Held& held : members(row))
          holders[{held.value, ends_of(held.box)}].push_back(graph.device_at(held.device));
    return holders;
  }
  void add(const BlockGraph& graph, const Holders& holders, const Move& row, double times) {
    const double element =
        static_cast<double>(size_of(blocks_.program[graph.graph][graph[row.to.id].value].type.element));
    for (const Move& move : members(row)) {
      const std::int64_t from = graph.device_at(graph[move.from].device), to = graph.device_at(graph[move.to].device);
      if (from == to || from == everywhere) continue;
      const double bytes = times * element * static_cast<double>(move.box.size());
      if (to == everywhere) {
        to_all_ += bytes;
        const auto alike = holders.find({graph[move.from].value, ends_of(graph[move.from].box)});
        if (alike == holders.end()) own_[from] += bytes;
        else
          for (std::int64_t device : alike->second) own_[device] += bytes;
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
    if (!region || region->kind != RegionKind::iterate) return;
    times *= static_cast<double>(count_of(application.row));
    this->graph(region->graph, times * static_cast<double>(region->trips.size()));
    if (region->trips.empty()) return;
    for (std::size_t k = 0; k < operation.results.size(); ++k)
      if (is_gathered_after_trips(blocks_.program, graph.graph, operation.results[k]))
        gather(blocks_.graphs[region->graph.index()], k, times);
  }
  // What the last trip leaves in parts, for all devices.
  void gather(const BlockGraph& body, std::size_t output, double times) {
    const Value& value = blocks_.program[body.graph][blocks_.program[body.graph].outputs[output]];
    const auto element = static_cast<double>(size_of(value.type.element));
    std::map<Ends, double> parts;  // several devices may have the same
    for (HeldId id : body.outputs[output])
      for (const Held& held : members(body[id])) {
        if (held.device == everywhere) return;
        const double bytes = times * element * static_cast<double>(held.box.size());
        own_[body.device_at(held.device)] += bytes;
        parts[ends_of(held.box)] = bytes;
      }
    for (const auto& [ends, bytes] : parts) {
      to_all_ += bytes;
      messages_to_all_ += times;
    }
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
