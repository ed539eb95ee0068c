#include "compiler/driver/metrics/predicted_calls.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "backend/compiled_program.h"
#include "cost/model/model.h"
#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/tensor_bytes.h"

namespace tap::driver {
namespace {

using namespace ir;

struct PredictedTask {
  double seconds = 0, operations = 0;  // of one run, of all members
};
using PredictedTasks = std::vector<std::vector<std::vector<PredictedTask>>>;  // by sequence, batch, task

class Predictor {
 public:
  explicit Predictor(const RunFacts& facts)
      : facts_(facts), schedule_(facts.executable.schedule()), program_(facts.executable.compiled().blocks.program) {
    if (facts.executable.devices().empty()) return;
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b)
      firsts_.push_back(backend::devices_of(facts.executable.devices()[b], schedule_.buffers[b].row).front());
  }

  PredictedRun run(bool with_calls) {
    for (const Sequence& sequence : schedule_.sequences) {
      auto& tasks = tasks_.emplace_back();
      for (const Batch& batch : sequence) tasks.emplace_back(batch.size());
    }
    price();
    list_batches();
    if (with_calls) list_calls();
    return std::move(made_);
  }

 private:
  // The model's rows come in the order of the tasks, without iterates, whose bodies they list instead.
  template <class Each>
  void for_each_task(std::size_t sequence, const Each& each) const {
    for (std::size_t b = 0; b < schedule_.sequences[sequence].size(); ++b)
      for (std::size_t t = 0; t < schedule_.sequences[sequence][b].size(); ++t) {
        const auto* loop = std::get_if<Iteration>(&schedule_.sequences[sequence][b][t].what);
        if (loop) for_each_task(loop->body, each);
        else each(sequence, b, t);
      }
  }
  static void list_events(cost::Trace& trace, std::vector<cost::Event*>& all) {
    for (cost::Event& event : trace)
      if (auto* repeat = std::get_if<cost::Repeat>(&event.does)) list_events(repeat->body, all);
      else all.push_back(&event);
  }

  void price() {
    const std::vector<backend::Kernel>& kernels = facts_.executable.compiled().kernels.kernels;
    cost::Trace trace = cost::trace_of(schedule_, kernels);
    std::vector<cost::Event*> events;
    list_events(trace, events);
    std::size_t next = 0;
    for_each_task(0, [&](std::size_t s, std::size_t b, std::size_t t) { note_message(at(s, b, t), *events[next++]); });
    cost::Model model(facts_.cluster, facts_.threads);
    const cost::ProgramCost cost = model.of(trace, kernels, own_device());
    made_.seconds = cost.total.total();
    next = 0;
    for_each_task(0, [&](std::size_t s, std::size_t b, std::size_t t) {
      const cost::CostRow& row = cost.rows[next++];
      const double times = std::max(row.times, 1.0);
      tasks_[s][b][t] = {row.cost.total() / times, row.cost.operations / times};
    });
  }
  const ScheduledTask& at(std::size_t s, std::size_t b, std::size_t t) const { return schedule_.sequences[s][b][t]; }

  // A copy from another process is a message; one to another process costs this one nothing but its start.
  void note_message(const ScheduledTask& task, cost::Event& event) const {
    const auto* copy = std::get_if<CopyBox>(&task.what);
    auto* copied = std::get_if<cost::CopyEvent>(&event.does);
    if (!copy || !copied || !facts_.among || firsts_.empty()) return;
    const std::int64_t from = firsts_[copy->from.id.index()], to = firsts_[copy->to.id.index()];
    if (is_elsewhere(from)) event.does = cost::MessageEvent{from, copied->bytes, copied->to};
    else if (is_elsewhere(to)) copied->bytes = copied->runs = 0;
  }
  bool is_elsewhere(std::int64_t device) const {
    return facts_.among && device != everywhere && facts_.among->rank_of(device) != facts_.among->rank;
  }
  std::int64_t own_device() const {
    if (!facts_.among) return 0;
    for (std::int64_t device = 0; device < facts_.among->devices; ++device)
      if (facts_.among->rank_of(device) == facts_.among->rank) return device;
    return 0;
  }

  void list_batches() {
    for (std::size_t s = 0; s < schedule_.sequences.size(); ++s) {
      auto& batches = made_.batches.emplace_back();
      for (std::size_t b = 0; b < schedule_.sequences[s].size(); ++b) {
        PredictedBatch& batch = batches.emplace_back();
        for (const PredictedTask& task : tasks_[s][b]) batch.seconds += task.seconds;
        const auto* loop = std::get_if<Iteration>(&schedule_.sequences[s][b].front().what);
        if (!loop) continue;
        batch.body = loop->body;
        batch.trips = loop->steps.size();
      }
    }
  }

  void list_calls() {
    const backend::EncodedSchedule encoded = backend::encoded_calls(schedule_, facts_.executable.devices());
    for (std::size_t s = 0; s < encoded.calls.size(); ++s) {
      const bool is_priced = !schedule_.preparation || s != *schedule_.preparation;
      auto& sequence = made_.calls.emplace_back();
      for (std::size_t b = 0; b < encoded.calls[s].size(); ++b) {
        std::vector<double> members(schedule_.sequences[s][b].size());
        for (const auto& calls : encoded.calls[s][b])
          for (const backend::EncodedCall& call : calls) ++members[call.task];
        auto& batch = sequence.emplace_back();
        for (const auto& calls : encoded.calls[s][b]) {
          auto& task = batch.emplace_back();
          for (const backend::EncodedCall& one : calls) {
            PredictedCall call = described(one.alone, encoded);
            call.task = one.task;
            call.member = one.member;
            call.tiles = one.alone.tiles;
            if (is_priced) call.seconds = tasks_[s][b][one.task].seconds / members[one.task];
            call.operations = tasks_[s][b][one.task].operations / members[one.task];
            task.push_back(std::move(call));
          }
        }
      }
    }
  }

  static std::int64_t device_of(BufferId id, const backend::EncodedSchedule& encoded) {
    return encoded.devices.empty() ? everywhere : encoded.devices[id.index()];
  }
  // The devices of one process share memory (backend/schedule/shared_memory.h): what is in it was computed by the device of
  // the block.
  std::int64_t device_of_block(const KernelCall& call) const {
    auto [known, fresh] = blocks_.try_emplace(call.operations);
    BlocksOnDevices& blocks = known->second;
    if (fresh) blocks = blocks_of(schedule_.operations[call.operations].what);
    const auto found = blocks.device.find(begins(call.box, blocks.dims));
    return found == blocks.device.end() ? everywhere : found->second;
  }
  struct BlocksOnDevices {
    std::vector<std::uint32_t> dims;  // that are placed
    std::map<std::vector<std::int64_t>, std::int64_t> device;
  };
  static std::vector<std::int64_t> begins(const Box& box, const std::vector<std::uint32_t>& dims) {
    std::vector<std::int64_t> all;
    for (std::uint32_t d : dims) all.push_back(box.dims[d].lo);
    return all;
  }
  BlocksOnDevices blocks_of(const OperationRef& what) const {
    GraphId graph = program_.main;
    for (const PathStep& step : what.path) graph = program_[program_[graph][step.operation].op].region()->graph;
    const Operation& operation = program_[graph][what.operation];
    const DeviceAssignment assignment(program_, operation);
    BlocksOnDevices blocks;
    if (assignment.is_replicated()) return blocks;
    for (const BlockPlacement& p : operation.placements)
      if (on_devices(p) && p.dim != whole_operation) blocks.dims.push_back(p.dim);
    for (std::int64_t index = 0; index < assignment.count(); ++index)
      if (const auto box = assignment.box(program_[operation.op], index))
        blocks.device.emplace(begins(*box, blocks.dims), assignment.device(index));
    return blocks;
  }
  static double size(const Box& box, ElementType type) {
    return static_cast<double>(box.size()) * static_cast<double>(size_of(type));
  }

  PredictedCall described(const ScheduledTask& task, const backend::EncodedSchedule& encoded) const {
    return std::visit([&](const auto& what) { return described(what, encoded); }, task.what);
  }
  PredictedCall described(const KernelCall& call, const backend::EncodedSchedule& encoded) const {
    PredictedCall made{CallKind::kernel, schedule_.operations[call.operations].result,
                       "kernel " + std::to_string(call.kernel), to_string(call.box),
                       device_of(call.buffers.back().id, encoded)};
    const ScheduledKernel& kernel = schedule_.kernels[call.kernel];
    if (made.device == everywhere && !encoded.devices.empty() && !kernel.packs) made.device = device_of_block(call);
    const Operator& op = program_[kernel.computes];
    Box box = call.box;
    for (const Counter& counter : call.counters) {
      const std::int64_t first = op.dims[counter.dim].range.lo;
      box.dims[counter.dim] = {first, first + 1};
    }
    for (std::size_t k = 0; k < call.buffers.size(); ++k) {
      const Buffer& buffer = encoded.buffers[call.buffers[k].id.index()];
      const auto number = static_cast<std::uint32_t>(k);
      const auto reads = static_cast<std::uint32_t>(op.operands.size());
      const Box touched = kernel.packs ? buffer.box
                          : k < reads  ? read_region(op, number, box)
                                       : written_region(op, number - reads, box);
      made.bytes += size(touched, buffer.element);
    }
    return made;
  }
  PredictedCall described(const CopyBox& copy, const backend::EncodedSchedule& encoded) const {
    const Buffer& to = encoded.buffers[copy.to.id.index()];
    PredictedCall made{CallKind::copy,
                       to.name,
                       "copy",
                       to_string(copy.box),
                       device_of(copy.to.id, encoded),
                       device_of(copy.from.id, encoded)};
    made.bytes = size(copy.box, to.element);
    if (is_elsewhere(made.from) || is_elsewhere(made.device)) made.kind = CallKind::message;
    else if (made.from != everywhere && made.device != everywhere && made.from != made.device)
      made.kind = CallKind::transfer;
    if (made.kind != CallKind::copy) made.what = made.kind == CallKind::message ? "message" : "transfer";
    return made;
  }
  PredictedCall described(const Fill& fill, const backend::EncodedSchedule& encoded) const {
    const Buffer& to = encoded.buffers[fill.buffer.id.index()];
    PredictedCall made{CallKind::fill, to.name, "fill", to_string(to.box), device_of(fill.buffer.id, encoded)};
    made.bytes = size(to.box, to.element);
    return made;
  }
  PredictedCall described(const OutsideCall& call, const backend::EncodedSchedule& encoded) const {
    PredictedCall made{CallKind::outside, schedule_.operations[call.operation].result,
                       "outside " + schedule_.outside[call.outside], to_string(call.box)};
    if (!call.regions.empty()) made.device = device_of(call.regions.back().id, encoded);
    for (const BufferMember& region : call.regions) {
      const Buffer& buffer = encoded.buffers[region.id.index()];
      made.bytes += size(buffer.box, buffer.element);
    }
    return made;
  }
  PredictedCall described(const Iteration&, const backend::EncodedSchedule&) const { return {}; }

  const RunFacts& facts_;
  const Schedule& schedule_;
  const Program& program_;
  std::vector<std::int64_t> firsts_;  // the device of each buffer's first member; empty if devices are not known
  mutable std::map<std::size_t, BlocksOnDevices> blocks_;  // by operation of the schedule
  PredictedTasks tasks_;
  PredictedRun made_;
};

}  // namespace

PredictedRun predict(const RunFacts& facts) { return Predictor(facts).run(true); }

PredictedRun predict_batches(const RunFacts& facts) { return Predictor(facts).run(false); }

}  // namespace tap::driver
