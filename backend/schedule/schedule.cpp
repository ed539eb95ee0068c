// From block graphs to a schedule: every held box becomes a buffer, every application and move a task, in batches of
// independent tasks; bodies of iterates are sequences, calls part of their caller.
#include "backend/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "backend/schedule/arrange_batches.h"
#include "backend/schedule/conflicting_writes.h"
#include "backend/schedule/gather.h"
#include "backend/schedule/operation_texts.h"
#include "backend/schedule/outside_calls.h"
#include "backend/schedule/schedule_tasks.h"
#include "backend/schedule/shared_batches.h"
#include "backend/schedule/shared_memory.h"
#include "ir/block_program.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

class Scheduler {
 public:
  Scheduler(const BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options)
      : blocks_(blocks), program_(blocks.program), kernels_(kernels), options_(options) {}

  Schedule run();

 private:
  using ValueBuffers = std::vector<BufferId>;  // the buffers of a value
  // One graph, at one place where it runs.
  struct RunningGraph {
    const BlockGraph& blocks;
    const Graph& graph;
    std::vector<std::optional<BufferId>> buffers;  // by HeldId
    Path path;                                     // to the place, which has this number
    std::size_t path_number = 0;
    std::vector<std::optional<ValueId>> shared;  // by HeldId
    std::map<ValueId, BufferId> memory_of = {};  // of shared values
    std::vector<HeldMemory> memories = {};       // by HeldId, if each device has its own
  };

  std::vector<ValueBuffers> graph(GraphId id, const std::vector<BufferId>& inputs, Path path);
  void task(RunningGraph& frame, const Application& listed);
  void task(RunningGraph& frame, const Move& move);
  void kernel(RunningGraph& frame, const Application& application, const Operator& op, std::size_t kernel);
  void outside(RunningGraph& frame, const Application& application, const Operator& op);
  void region(RunningGraph& frame, const Application& application, const Operator& op);
  std::vector<ValueBuffers> iterate(const Operator& op, const std::vector<BufferId>& operands, std::size_t text,
                                    Path path);
  BufferId next_state(const ValueBuffers& value_buffers, BufferId of, Buffer now, const std::set<BufferId>& taken,
                      std::size_t before);
  void outputs(const std::vector<ValueBuffers>& found);
  void on_device(const BlockGraph& blocks, BufferId id, const Held& held);
  void on_device(const BlockGraph& blocks, BufferId id, std::int64_t first, std::vector<std::int64_t> steps);
  void on_device_of(BufferId id, BufferId other);
  bool is_everywhere(BufferId id) const { return !devices_.contains(id); }

  void gather(const ValueBuffers& value_buffers, BufferId to) { backend::gather(tasks_, value_buffers, to, order_++); }
  BufferMember held(RunningGraph& frame, HeldMember one);
  BufferId held(RunningGraph& frame, HeldId id);
  std::vector<std::optional<ValueId>> shared_in(const BlockGraph& blocks) const;
  Box box_of(BufferMember one) { return member(tasks_.at(one.id), one.number).box; }
  BufferId whole(BufferMember one, const TensorType& type);
  BufferId whole(const ValueBuffers& value_buffers, const TensorType& type);
  std::size_t text_of(const RunningGraph& frame, const Application& application) {
    return texts_.of(frame.path_number, frame.path, frame.blocks.graph, application.operation);
  }

  const BlockProgram& blocks_;
  const Program& program_;
  const KernelTable& kernels_;
  const ScheduleOptions& options_;
  Schedule schedule_;
  ScheduleTasks tasks_{schedule_};
  OperationTexts texts_{program_, schedule_.operations};
  std::size_t order_ = 0;                     // number of the next operation
  std::size_t places_ = 0;                    // number of graphs so far
  std::set<BufferId> fixed_;                  // exchanged by an iterate
  std::map<BufferId, BufferDevice> devices_;  // others are everywhere
  std::vector<std::pair<BufferId, BufferId>> exchanged_;
};

Schedule Scheduler::run() {
  const Graph& main = program_[program_.main];
  schedule_.kernels = kernels_.what;
  schedule_.kernel_of = kernels_.of;
  schedule_.prepared = kernels_.prepared;
  std::vector<BufferId> inputs;
  for (ValueId v : main.inputs) {
    const Value& value = main[v];
    inputs.push_back(tasks_.new_buffer(value.name, value.type.element, Box::of_shape(value.type.shape)));
    tasks_.at(inputs.back()).space = MemorySpace::input;
    tasks_.at(inputs.back()).at = static_cast<std::int64_t>(schedule_.inputs.size());
    schedule_.inputs.push_back({value.name, value.type, value.is_const});
  }
  for (std::size_t k = 0; k < main.outputs.size(); ++k) {
    const Value& value = main[main.outputs[k]];
    schedule_.outputs.push_back({options_.output_names ? options_.output_names->at(k) : value.name, value.type, false});
  }
  outputs(graph(program_.main, inputs, {}));
  tasks_.close();
  tasks_.in_use_together(exchanged_);
  tasks_.end_preparation();
  plan_memory(schedule_, tasks_.lifetimes());
  std::vector<BufferDevice> devices(schedule_.buffers.size());
  for (const auto& [id, device] : devices_) devices[id.index()] = device;
  if (options_.times)
    arrange_batches(schedule_, tasks_.facts(), kernels_.kernels, devices, options_, tasks_.lifetimes());
  if (options_.facts) *options_.facts = {std::move(devices), std::move(tasks_.lifetimes())};
  return std::move(schedule_);
}

void Scheduler::on_device(const BlockGraph& blocks, BufferId id, const Held& held) {
  std::vector<std::int64_t> steps;
  for (const Level& level : held.row) steps.push_back(level.steps.back());
  on_device(blocks, id, held.device, std::move(steps));
}
void Scheduler::on_device(const BlockGraph& blocks, BufferId id, std::int64_t first, std::vector<std::int64_t> steps) {
  if (first == everywhere) return;
  BufferDevice device{blocks.device_at(first), std::move(steps)};
  // Members of a row of positions have the devices of the mesh's order.
  if (!blocks.devices.empty() && !device.steps.empty()) device.positions = blocks.devices;
  if (!device.positions.empty()) device.first = first;
  devices_[id] = std::move(device);
}
void Scheduler::on_device_of(BufferId id, BufferId other) {
  if (auto found = devices_.find(other); found != devices_.end()) devices_[id] = found->second;
}

// A result in a single buffer is written directly to the caller's memory; others are copied there.
void Scheduler::outputs(const std::vector<ValueBuffers>& found) {
  for (std::size_t k = 0; k < found.size(); ++k) {
    const TensorType& type = schedule_.outputs[k].type;
    Box box = Box::of_shape(type.shape);
    BufferId only = found[k][0];
    bool direct = found[k].size() == 1 && tasks_.at(only).space == MemorySpace::arena && tasks_.at(only).box == box &&
                  tasks_.at(only).row.empty() && !fixed_.contains(only) && (!options_.shared || is_everywhere(only));
    BufferId to = direct ? only : tasks_.new_buffer(schedule_.outputs[k].name, type.element, box);
    tasks_.at(to).space = MemorySpace::output;
    tasks_.at(to).at = static_cast<std::int64_t>(k);
    if (direct) continue;
    gather(found[k], to);
  }
}

std::vector<Scheduler::ValueBuffers> Scheduler::graph(GraphId id, const std::vector<BufferId>& inputs, Path path) {
  const BlockGraph& blocks = blocks_.graphs[id.index()];
  TAP_CHECK(inputs.size() == blocks.inputs.size(), "a graph received a wrong number of inputs");
  RunningGraph frame{blocks,          program_[id], std::vector<std::optional<BufferId>>(blocks.held.size()),
                     std::move(path), places_++,    shared_in(blocks)};
  if (options_.shared) frame.memories = joined_memories(program_, blocks);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    frame.buffers[blocks.inputs[k].index()] = inputs[k];
    if (const auto& value = frame.shared[blocks.inputs[k].index()]) frame.memory_of.emplace(*value, inputs[k]);
  }
  for (auto first = blocks.tasks.begin(); first != blocks.tasks.end();) {
    const OperationId operation = operation_of(*first);
    const auto next =
        std::find_if(first, blocks.tasks.end(), [&](const Task& t) { return operation_of(t) != operation; });
    for (const auto& turn : serialise_conflicting_writes(program_[frame.graph[operation].op], {first, next})) {
      for (const Task& t : turn) std::visit([&](const auto& one) { task(frame, one); }, t);
      ++order_;
    }
    first = next;
  }
  std::vector<ValueBuffers> found;
  for (const auto& held_ids : blocks.outputs) {
    found.emplace_back();
    for (HeldId h : held_ids)
      if (const BufferId one = held(frame, h); found.back().empty() || found.back().back() != one)
        found.back().push_back(one);
  }
  return found;
}

void Scheduler::task(RunningGraph& frame, const Application& listed) {
  const Application application = without_shared_members(listed, frame.shared);
  const OperatorId id = frame.graph[application.operation].op;
  const Operator& op = program_[id];
  if (auto number = kernels_.of[id.index()]) return kernel(frame, application, op, *number);
  if (op.kernel()) return outside(frame, application, op);
  TAP_CHECK(op.region(), "an operator without a kernel is applied");
  region(frame, application, op);
}

void Scheduler::task(RunningGraph& frame, const Move& move) {
  if (frame.shared[move.to.id.index()]) return;
  const BufferMember from = held(frame, move.from), to = held(frame, move.to);
  if (from.id != to.id) return tasks_.copy({from, to, move.box, move.row}, order_);
  std::vector<CopyBox> copies;  // without those of devices to themselves
  for (const Move& one : members(move))
    if (one.from.number != one.to.number)
      copies.push_back({{from.id, one.from.number}, {to.id, one.to.number}, one.box, {}});
  for (CopyBox& copy : in_rows(std::move(copies))) tasks_.copy(std::move(copy), order_);
}

void Scheduler::kernel(RunningGraph& frame, const Application& application, const Operator& op, std::size_t number) {
  KernelCall call;
  call.kernel = number;
  call.row = application.row;
  for (ir::Level& level : call.row) level.steps.erase(level.steps.begin() + std::ssize(application.box.dims));
  call.box = op.region() ? application.box : box_to_run(op, application.box);  // a group streams its blocks itself
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::counter) {
      call.counters.push_back({d, op.dims[d].level});
      call.box.dims[d] = {0, 1};  // the executor sets the trip
    }
  const Kernel& loops = kernels_.kernels[number];
  call.tiles = tile_count(loops, call.box);
  std::int64_t parts = options_.parts > 0 ? std::min(options_.parts, call.tiles) : parts_that_pay(loops, call.tiles);
  std::vector<BufferId> reads, writes;
  for (const auto* list : {&application.operands, &application.results})
    for (HeldMember m : *list) {
      call.buffers.push_back(held(frame, m));
      (list == &application.operands ? reads : writes).push_back(call.buffers.back().id);
    }
  if (call.tiles == 0) return;
  call.operations = text_of(frame, application);
  for (const Preparation& how : kernels_.prepared[frame.graph[application.operation].op.index()])
    call.buffers[how.operand] = reads[how.operand] =
        tasks_.prepared(reads[how.operand], how, kernels_.kernels[how.kernel], call.operations);
  tasks_.add({std::move(call), std::max<std::int64_t>(parts, 1)}, order_, reads, writes);
}

void Scheduler::outside(RunningGraph& frame, const Application& application, const Operator& op) {
  OutsideCall call;
  auto known = std::find(schedule_.outside.begin(), schedule_.outside.end(), op.kernel()->symbol);
  call.outside = static_cast<std::size_t>(known - schedule_.outside.begin());
  if (known == schedule_.outside.end()) schedule_.outside.push_back(op.kernel()->symbol);
  call.operation = text_of(frame, application);
  call.extents = op.box().shape();
  OutsideBuffers buffers;
  for (const HeldMember& one : application.operands) buffers.operands.push_back(held(frame, one.id));
  for (const HeldMember& one : application.results) buffers.results.push_back(held(frame, one.id));
  for (const RegionOnDevice& region : add_outside_calls(tasks_, op, application, buffers, std::move(call), order_))
    on_device(frame.blocks, region.id, application.device, region.device_steps);
}

void Scheduler::region(RunningGraph& frame, const Application& application, const Operator& op) {
  std::vector<BufferId> operands;
  for (std::size_t k = 0; k < application.operands.size(); ++k)
    operands.push_back(whole(held(frame, application.operands[k]), op.operands[k]));
  Path inside = frame.path;
  inside.push_back(application.operation);
  const std::vector<ValueBuffers> found = op.region()->kind == RegionKind::iterate
                                              ? iterate(op, operands, text_of(frame, application), std::move(inside))
                                              : graph(op.region()->graph, operands, std::move(inside));
  for (std::size_t k = 0; k < found.size(); ++k) {
    auto& result = frame.buffers[application.results[k].id.index()];
    TAP_CHECK(!result, "a region writes a part of a value");
    result = whole(found[k], op.results[k]);
  }
}

// The first operands are the state, the others are the same in every trip. The state has two memories that are
// exchanged: for the whole state, or two for each device that has a box of it before and after a trip.
std::vector<Scheduler::ValueBuffers> Scheduler::iterate(const Operator& op, const std::vector<BufferId>& operands,
                                                        std::size_t text, Path path) {
  const RegionBody& region = *op.region();
  const BlockGraph& blocks = blocks_.graphs[region.graph.index()];
  const std::vector<ValueId>& values = program_[region.graph].inputs;
  Iteration loop{region.trips, 0, text, {}};
  std::vector<BufferId> inputs;
  std::vector<ValueBuffers> results(op.results.size());
  // The box is a copy: a new buffer moves the known ones.
  auto begin_with = [&](std::size_t k, Box box, const Row& row,  // NOLINT(performance-unnecessary-value-param)
                        const Held* part = nullptr) {
    const Buffer operand = tasks_.at(operands[k]);
    const BufferId now = tasks_.new_buffer(operand.name, operand.element, box, row);
    if (part) on_device(blocks, now, *part);
    tasks_.copy({operands[k], now, box, along_members(tasks_.at(now), false, true)}, order_);
    results[k].push_back(now);
    fixed_.insert(now);
    return now;
  };
  if (region.trips.empty()) {  // there may no longer be a body
    for (std::size_t k = 0; k < results.size(); ++k) begin_with(k, tasks_.at(operands[k]).box, {});
    return results;
  }
  const std::vector<std::optional<ValueId>> shared = shared_in(blocks);
  for (HeldId held : blocks.inputs) {
    const auto k =
        static_cast<std::size_t>(std::find(values.begin(), values.end(), blocks[held].value) - values.begin());
    const bool part = blocks[held].device != everywhere && !shared[held.index()];
    if (k < results.size() && shared[held.index()] && !results[k].empty()) {
      inputs.push_back(results[k].front());
      continue;
    }
    inputs.push_back(k >= results.size() ? operands[k]
                                         : begin_with(k, part ? blocks[held].box : tasks_.at(operands[k]).box,
                                                      part ? blocks[held].row : Row(), part ? &blocks[held] : nullptr));
  }
  const ScheduleTasks::Body body = tasks_.begin_body();
  const std::vector<ValueBuffers> found = graph(region.graph, inputs, std::move(path));
  std::set<BufferId> taken;
  for (std::uint32_t k = 0; k < results.size(); ++k)
    for (std::size_t part = 0; part < results[k].size(); ++part) {
      const BufferId now = results[k][part];
      const bool in_parts = found[k].size() == results[k].size();
      const ValueBuffers left = in_parts ? ValueBuffers{found[k][part]} : found[k];
      const BufferId next = next_state(left, now, tasks_.at(now), taken, body.buffers_before);
      taken.insert(next);
      loop.states.push_back({k, now, next});
    }
  for (const ExchangedState& one : loop.states) {
    fixed_.insert(one.next);
    exchanged_.emplace_back(one.now, one.next);
  }
  tasks_.end_body(body, std::move(loop));
  ++order_;
  return results;
}

// The memory in which a trip leaves a state: the value's, if the body made it and it has no other use. `now` is a copy,
// since a new buffer may move the existing ones.
BufferId Scheduler::next_state(const ValueBuffers& value_buffers, BufferId of,
                               Buffer now,  // NOLINT(performance-unnecessary-value-param)
                               const std::set<BufferId>& taken, std::size_t before) {
  BufferId only = value_buffers[0];
  const bool alike = tasks_.at(only).box == now.box && tasks_.at(only).row == now.row;
  if (value_buffers.size() == 1 && only.index() >= before && alike && !taken.contains(only) && !fixed_.contains(only))
    return only;
  BufferId next = tasks_.new_buffer(tasks_.at(only).name, tasks_.at(only).element, now.box, now.row);
  on_device_of(next, of);
  if (now.row.empty()) gather(value_buffers, next);
  else tasks_.copy({only, next, now.box, along_members(tasks_.at(next), !tasks_.at(only).row.empty(), true)}, order_++);
  return next;
}

BufferMember Scheduler::held(RunningGraph& frame, HeldMember one) { return {held(frame, one.id), one.number}; }

std::vector<std::optional<ValueId>> Scheduler::shared_in(const BlockGraph& blocks) const {
  return options_.shared ? std::vector<std::optional<ValueId>>(blocks.held.size()) : shared_values(program_, blocks);
}

BufferId Scheduler::held(RunningGraph& frame, HeldId id) {
  auto& buffer = frame.buffers[id.index()];
  if (!buffer) {
    const auto& shared = frame.shared[id.index()];
    if (auto known = shared ? frame.memory_of.find(*shared) : frame.memory_of.end(); known != frame.memory_of.end())
      return *(buffer = known->second);
    if (!frame.memories.empty() && frame.memories[id.index()].of != id)
      return *(buffer = this->held(frame, frame.memories[id.index()].of));
    const Held& held = frame.blocks[id];
    const Value& value = frame.graph[shared.value_or(held.value)];
    if (shared) {
      buffer = tasks_.new_buffer(value.name, value.type.element, Box::of_shape(value.type.shape));
      frame.memory_of.emplace(*shared, *buffer);
      return *buffer;
    }
    buffer = frame.memories.empty() ? tasks_.new_buffer(value.name, value.type.element, held.box, held.row)
                                    : tasks_.new_buffer(value.name, value.type.element, frame.memories[id.index()].box,
                                                        frame.memories[id.index()].row);
    on_device(frame.blocks, *buffer, held);
  }
  return *buffer;
}

BufferId Scheduler::whole(BufferMember one, const TensorType& type) {
  if (tasks_.at(one.id).row.empty()) return whole(ValueBuffers{one.id}, type);
  BufferId result = tasks_.new_buffer(tasks_.at(one.id).name, type.element, Box::of_shape(type.shape));
  tasks_.copy({one, result, box_of(one)}, order_++);
  return result;
}

BufferId Scheduler::whole(const ValueBuffers& value_buffers, const TensorType& type) {
  const Buffer& only = tasks_.at(value_buffers[0]);
  const bool is_here = !options_.shared || is_everywhere(value_buffers[0]);
  if (is_here && only.box == Box::of_shape(type.shape) && only.row.empty()) return value_buffers[0];
  BufferId result = tasks_.new_buffer(only.name, type.element, Box::of_shape(type.shape));
  gather(value_buffers, result);
  return result;
}

}  // namespace

Schedule schedule(const BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options) {
  return with_shared_columns(Scheduler(blocks, kernels, options).run(), kernels.kernels);
}

std::int64_t shard_count(const Schedule& schedule) {
  std::int64_t count = 0;
  for (std::size_t s = 0; s < schedule.sequences.size(); ++s) {
    if (s == schedule.preparation) continue;
    for (const Batch& batch : schedule.sequences[s])
      for (const ScheduledTask& task : batch)
        if (auto* call = std::get_if<KernelCall>(&task.what)) count += count_of(call->row);
        else if (auto* other = std::get_if<OutsideCall>(&task.what)) count += count_of(other->row);
  }
  return count;
}

}  // namespace tap::backend
