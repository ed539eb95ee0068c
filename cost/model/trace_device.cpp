// One device's part of a sharded program as a trace: what it computes, receives and copies. The effort depends on
// this part only, not on the number of devices.
#include <algorithm>

#include "backend/compiled_program.h"
#include "cost/model/trace.h"
#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "passes/splits/expand_device.h"

namespace tap::cost {

using namespace ir;

namespace {

class DeviceTrace {
 public:
  DeviceTrace(const backend::CompiledProgram& lowered, std::int64_t device)
      : blocks_(lowered.blocks), program_(lowered.blocks.program), table_(lowered.kernels), device_(device) {}

  // Memories are renumbered for each place where a graph runs; inputs are the caller's.
  Trace graph(GraphId id, const std::vector<std::size_t>& inputs, std::vector<std::size_t>* outputs) {
    const BlockGraph blocks = by_device(blocks_.graphs[id.index()]);
    const Graph& graph = program_[id];
    const std::vector<std::string> names = operation_names(graph);
    std::vector<std::size_t> memories(blocks.held.size());
    for (std::size_t& memory : memories) memory = next_++;
    for (std::size_t k = 0; k < inputs.size() && k < blocks.inputs.size(); ++k)
      memories[blocks.inputs[k].index()] = inputs[k];
    Trace trace;
    for (const Task& task : blocks.tasks) {
      const std::string& name = names[operation_of(task).index()];
      if (auto* application = std::get_if<Application>(&task)) add(trace, name, graph, blocks, *application, memories);
      else add(trace, name, graph, blocks, std::get<Move>(task), memories);
    }
    if (outputs)
      for (const std::vector<HeldId>& output : blocks.outputs)
        outputs->push_back(output.empty() ? next_++ : memories[output.front().index()]);
    return trace;
  }

 private:
  Touch touch(const Graph& graph, const BlockGraph& blocks, HeldMember one, const Row& row,
              const std::vector<std::size_t>& memories) const {
    const Held& held = blocks[one.id];
    const double bytes =
        static_cast<double>(held.box.size()) * static_cast<double>(size_of(graph[held.value].type.element));
    const double members = std::min(static_cast<double>(count_of(row)), static_cast<double>(count_of(held.row)));
    return {memories[one.id.index()], bytes, std::max(members, 1.0)};
  }

  static std::size_t value_number(GraphId graph, ValueId value) { return (graph.index() << 32) + value.index(); }

  void add(Trace& trace, const std::string& name, const Graph& graph, const BlockGraph& blocks,
           const Application& application, const std::vector<std::size_t>& memories) {
    std::vector<std::size_t> values;
    for (HeldMember m : application.results) values.push_back(value_number(blocks.graph, blocks[m.id].value));
    const Operation& operation = graph[application.operation];
    const Operator& op = program_[operation.op];
    const auto calls = static_cast<double>(count_of(application.row));
    if (const auto kernel = table_.of[operation.op.index()]) {
      KernelEvent event{*kernel, op.region() ? application.box : box_to_run(op, application.box), calls, 1, {}};
      for (std::size_t d = 0; d < op.dims.size(); ++d)
        if (op.dims[d].role == DimRole::counter) event.box.dims[d] = {0, 1};
      event.portions =
          static_cast<double>(std::max<std::int64_t>(backend::tile_count(table_.kernels[*kernel], event.box), 1));
      for (const auto* list : {&application.operands, &application.results})
        for (HeldMember m : *list) event.touches.push_back(touch(graph, blocks, m, application.row, memories));
      trace.push_back({name, "kernel " + std::to_string(*kernel), ++batch_, std::move(event), std::move(values)});
    } else if (op.kernel()) {
      const double flops = static_cast<double>(op.kernel()->flops.value_or(1));
      OutsideEvent event{flops * calls * static_cast<double>(application.box.size())};
      for (const auto* list : {&application.operands, &application.results})
        for (HeldMember m : *list) event.touches.push_back(touch(graph, blocks, m, application.row, memories));
      trace.push_back({name, "outside " + op.kernel()->symbol, ++batch_, std::move(event), std::move(values)});
    } else if (const RegionBody* region = op.region()) {
      inside(trace, name, *region, operation, application, memories);
      trace.back().values = std::move(values);
    }
  }
  void inside(Trace& trace, const std::string& name, const RegionBody& region, const Operation& operation,
              const Application& application, const std::vector<std::size_t>& memories) {
    std::vector<std::size_t> inputs, outputs;
    for (HeldMember m : application.operands) inputs.push_back(memories[m.id.index()]);
    Repeat repeat;
    repeat.body = graph(region.graph, inputs, &outputs);
    const Graph& body = program_[region.graph];
    for (std::size_t k = 0; k < inputs.size() && k < body.inputs.size(); ++k)
      repeat.states.emplace_back(value_number(region.graph, body.inputs[k]), inputs[k]);
    for (HeldMember m : application.results) repeat.results.push_back(memories[m.id.index()]);
    if (region.kind == RegionKind::iterate) {
      repeat.times = static_cast<double>(region.trips.size());
      for (std::size_t s = 0; s < operation.results.size() && s < inputs.size() && s < outputs.size(); ++s)
        repeat.exchanged.emplace_back(inputs[s], outputs[s]);
    }
    trace.push_back({name, "iterate", ++batch_, std::move(repeat)});
  }

  void add(Trace& trace, const std::string& name, const Graph& graph, const BlockGraph& blocks, const Move& move,
           const std::vector<std::size_t>& memories) {
    const Held &from = blocks[move.from.id], &to = blocks[move.to.id];
    if (to.device != device_ && to.device != everywhere) return;  // a send; the receiver pays
    const auto element = static_cast<double>(size_of(graph[to.value].type.element));
    const double bytes = static_cast<double>(move.box.size()) * element * static_cast<double>(count_of(move.row));
    const Touch to_touch = touch(graph, blocks, move.to, move.row, memories);
    if (from.device != device_ && from.device != everywhere) {
      trace.push_back({name,
                       "message",
                       ++batch_,
                       MessageEvent{from.device, bytes, to_touch, value_number(blocks.graph, from.value)},
                       {value_number(blocks.graph, to.value)}});
      return;
    }
    const double last =
        move.box.dims.empty() ? 1 : static_cast<double>(std::max<std::int64_t>(move.box.dims.back().size(), 1));
    trace.push_back(
        {name,
         "copy",
         ++batch_,
         CopyEvent{bytes, bytes / element / last, touch(graph, blocks, move.from, move.row, memories), to_touch},
         {value_number(blocks.graph, to.value)}});
  }

  const BlockProgram& blocks_;
  const Program& program_;
  const backend::KernelTable& table_;
  std::int64_t device_;
  std::size_t next_ = 0, batch_ = 0;
};

}  // namespace

Trace trace_of_device(const backend::CompiledProgram& lowered, std::int64_t device) {
  return DeviceTrace(lowered, device).graph(lowered.blocks.program.main, {}, nullptr);
}

backend::CompiledProgram lowered_for_device(const Program& program, std::int64_t device, bool strict_fp,
                                            const Machine& machine) {
  return backend::lower(passes::expand_device(program, device), strict_fp, machine);
}

}  // namespace tap::cost
