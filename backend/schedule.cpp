// From block graphs to a schedule: every held box becomes a buffer, every application and move a task, in batches as long as
// nothing depends on another; bodies of iterates are written out where they stand, calls as part of their caller.
#include "backend/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "backend/group_tiles.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

std::int64_t Buffer::bytes() const {
  return checked::mul(element_count(box.shape()), static_cast<std::int64_t>(size_of(element)));
}

namespace {

constexpr std::int64_t copy_bytes = 256 << 10;  // of one tile of a copy

// What the tasks of the batch that is being filled read and write, and which operation's they are. Tasks of one operation
// share nothing.
class Open {
 public:
  bool fits(std::size_t order, const std::vector<BufferId>& reads, const std::vector<BufferId>& writes) const {
    auto by_others = [order](const Users& users, BufferId id) {
      auto it = users.find(id);
      return it != users.end() && (it->second.several || it->second.order != order);
    };
    for (BufferId id : reads)
      if (by_others(written_, id)) return false;
    for (BufferId id : writes)
      if (by_others(written_, id) || by_others(read_, id)) return false;
    return true;
  }
  void add(std::size_t order, const std::vector<BufferId>& reads, const std::vector<BufferId>& writes) {
    for (BufferId id : reads) note(read_, id, order);
    for (BufferId id : writes) note(written_, id, order);
  }

 private:
  struct User {
    std::size_t order = 0;
    bool several = false;  // others, too
  };
  using Users = std::unordered_map<BufferId, User>;
  static void note(Users& users, BufferId id, std::size_t order) {
    auto [it, fresh] = users.try_emplace(id, User{order, false});
    if (!fresh && it->second.order != order) it->second.several = true;
  }
  Users read_, written_;
};

class Scheduler {
 public:
  Scheduler(const BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options)
      : blocks_(blocks), program_(blocks.program), kernels_(kernels), options_(options) {}

  Schedule run();

 private:
  using Holders = std::vector<BufferId>;  // what there is of a value
  // One graph, at one place where it runs.
  struct Frame {
    const BlockGraph& blocks;
    const Graph& graph;
    std::vector<std::optional<BufferId>> buffers;  // by HeldId
  };

  std::vector<Holders> graph(GraphId id, const std::vector<BufferId>& inputs);
  void task(Frame& frame, const Application& application);
  void task(Frame& frame, const Move& move);
  void kernel(Frame& frame, const Application& application, const Operator& op, std::size_t kernel);
  void group(Frame& frame, const Application& application, const Operator& op);
  void outside(Frame& frame, const Application& application, const Operator& op);
  void region(Frame& frame, const Application& application, const Operator& op);
  std::vector<BufferId> iterate(const Operator& op, const std::vector<BufferId>& operands);
  BufferId next_state(const Holders& holders, const TensorType& type, const std::set<BufferId>& taken,
                      std::size_t before);
  void outputs(const std::vector<Holders>& found);

  BufferId new_buffer(std::string name, ElementType element, Box box);
  BufferId held(Frame& frame, HeldId id);
  BufferId whole(const Holders& holders, const TensorType& type);
  void copy(BufferId from, BufferId to, const Box& box, std::size_t order);
  void add(ScheduledTask task, const std::vector<BufferId>& reads, const std::vector<BufferId>& writes);
  void close();
  void use(BufferId id);
  std::size_t operation_text(const Graph& graph, const Operation& operation);
  std::size_t texts_of(const Frame& frame, const Operation& operation, const Operator& op);
  void texts_inside(GraphId group);
  Buffer& at(BufferId id) { return schedule_.buffers[id.index()]; }
  std::int64_t copy_tiles(BufferId id, const Box& box) const;

  const BlockProgram& blocks_;
  const Program& program_;
  const KernelTable& kernels_;
  const ScheduleOptions& options_;
  Schedule schedule_;
  std::size_t sequence_ = 0;  // that is being filled
  Batch batch_;
  Open open_;
  std::int64_t time_ = 0;     // of the batch, through all sequences
  std::size_t order_ = 0;     // of the next operation
  std::set<BufferId> fixed_;  // what an iterate exchanges
  std::vector<std::pair<BufferId, BufferId>> exchanged_;
  std::map<std::pair<GraphId, OperationId>, std::size_t> texts_;
};

Schedule Scheduler::run() {
  const Graph& main = program_[program_.main];
  schedule_.sequences.emplace_back();
  schedule_.kernels = kernels_.kernels.size();
  for (const Kernel& k : kernels_.kernels)
    schedule_.scratch_bytes = std::max(schedule_.scratch_bytes, static_cast<std::int64_t>(scratch_bytes(k)));
  std::vector<BufferId> inputs;
  for (ValueId v : main.inputs) {
    const Value& value = main[v];
    inputs.push_back(new_buffer(value.name, value.type.element, Box::of_shape(value.type.shape)));
    at(inputs.back()).place = BufferPlace::input;
    at(inputs.back()).at = static_cast<std::int64_t>(schedule_.inputs.size());
    schedule_.inputs.push_back({value.name, value.type, value.is_const});
  }
  for (std::size_t k = 0; k < main.outputs.size(); ++k) {
    const Value& value = main[main.outputs[k]];
    schedule_.outputs.push_back({options_.output_names ? options_.output_names->at(k) : value.name, value.type, false});
  }
  outputs(graph(program_.main, inputs));
  close();
  for (auto [now, next] : exchanged_) {  // what is in one may be in the other's memory
    at(now).first = at(next).first = std::min(at(now).first, at(next).first);
    at(now).last = at(next).last = std::max(at(now).last, at(next).last);
  }
  plan_memory(schedule_);
  return std::move(schedule_);
}

// A result that one buffer holds is written where the caller wants it; others are copied there.
void Scheduler::outputs(const std::vector<Holders>& found) {
  for (std::size_t k = 0; k < found.size(); ++k) {
    const TensorType& type = schedule_.outputs[k].type;
    Box box = Box::of_shape(type.shape);
    BufferId only = found[k][0];
    bool direct = found[k].size() == 1 && at(only).place == BufferPlace::arena && at(only).box == box &&
                  !fixed_.contains(only);
    BufferId to = direct ? only : new_buffer(schedule_.outputs[k].name, type.element, box);
    at(to).place = BufferPlace::output;
    at(to).at = static_cast<std::int64_t>(k);
    if (direct) continue;
    for (BufferId from : found[k]) copy(from, to, at(from).box, order_);
    ++order_;
  }
}

std::vector<Scheduler::Holders> Scheduler::graph(GraphId id, const std::vector<BufferId>& inputs) {
  const BlockGraph& blocks = blocks_.graphs[id.index()];
  TAP_CHECK(inputs.size() == blocks.inputs.size(), "a graph is given another number of inputs than it has");
  Frame frame{blocks, program_[id], std::vector<std::optional<BufferId>>(blocks.held.size())};
  for (std::size_t k = 0; k < inputs.size(); ++k) frame.buffers[blocks.inputs[k].index()] = inputs[k];
  std::optional<OperationId> last;
  for (const Task& t : blocks.tasks) {
    OperationId operation = std::visit([](const auto& one) { return one.operation; }, t);
    if (last && *last != operation) ++order_;
    last = operation;
    std::visit([&](const auto& one) { task(frame, one); }, t);
  }
  ++order_;
  std::vector<Holders> found;
  for (const auto& holders : blocks.outputs) {
    found.emplace_back();
    for (HeldId h : holders) found.back().push_back(held(frame, h));
  }
  return found;
}

void Scheduler::task(Frame& frame, const Application& application) {
  const OperatorId id = frame.graph[application.operation].op;
  const Operator& op = program_[id];
  if (auto number = kernels_.of[id.index()]) return kernel(frame, application, op, *number);
  if (op.kernel()) return outside(frame, application, op);
  TAP_CHECK(op.region(), "an operator without a kernel is applied");
  if (op.region()->kind == RegionKind::group) return group(frame, application, op);
  region(frame, application, op);
}

void Scheduler::task(Frame& frame, const Move& move) {
  copy(held(frame, move.from), held(frame, move.to), move.box, order_);
}

void Scheduler::kernel(Frame& frame, const Application& application, const Operator& op, std::size_t number) {
  KernelCall call;
  call.kernel = number;
  call.box = box_to_run(op, application.box);
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::counter) {
      call.counters.push_back({d, op.dims[d].level});
      call.box.dims[d] = {0, 1};  // the executor puts the step there
    }
  const Kernel& loops = kernels_.kernels[number];
  call.tiles = tile_count(loops, call.box);
  std::int64_t parts = options_.parts > 0 ? std::min(options_.parts, call.tiles) : call.tiles / loops.worth;
  std::vector<BufferId> reads, writes;
  for (HeldId h : application.operands) reads.push_back(held(frame, h));
  for (HeldId h : application.results) writes.push_back(held(frame, h));
  if (call.tiles == 0) return;
  call.buffers = reads;
  call.buffers.insert(call.buffers.end(), writes.begin(), writes.end());
  call.operations = texts_of(frame, frame.graph[application.operation], op);
  add({std::move(call), std::max<std::int64_t>(parts, 1), order_}, reads, writes);
}

void Scheduler::group(Frame& frame, const Application& application, const Operator& op) {
  GroupCall call;
  call.group = frame.graph[application.operation].op;
  call.boxes = group_tiles(op, application.box, tile_points(program_, op), options_.group_tiles);
  std::vector<BufferId> reads, writes;
  for (HeldId h : application.operands) reads.push_back(held(frame, h));
  for (HeldId h : application.results) writes.push_back(held(frame, h));
  if (call.boxes.empty()) return;
  call.buffers = reads;
  call.buffers.insert(call.buffers.end(), writes.begin(), writes.end());
  call.operations = texts_of(frame, frame.graph[application.operation], op);
  auto tiles = static_cast<std::int64_t>(call.boxes.size());
  add({std::move(call), tiles, order_}, reads, writes);
}

// Regions are memory of their own: cells of a read that lie outside of the tensor are there and hold the fill.
void Scheduler::outside(Frame& frame, const Application& application, const Operator& op) {
  OutsideCall call;
  auto known = std::find(schedule_.outside.begin(), schedule_.outside.end(), op.kernel()->symbol);
  call.outside = static_cast<std::size_t>(known - schedule_.outside.begin());
  if (known == schedule_.outside.end()) schedule_.outside.push_back(op.kernel()->symbol);
  call.box = application.box;
  call.extents = op.box().shape();
  std::size_t order = order_++;
  std::vector<BufferId> reads, writes;
  for (const Access& read : op.reads) {
    BufferId from = held(frame, application.operands[read.tensor]);
    Box bounds = read.projection.bounds(application.box);
    BufferId region = new_buffer("", at(from).element, bounds);
    Box inside = intersect(bounds, at(from).box);
    if (read.fill && !(inside == bounds)) {
      add({Fill{region, op.exprs[*read.fill].value}, 1, order}, {}, {region});
      close();
    }
    if (!inside.empty()) copy(from, region, inside, order);
    reads.push_back(region);
  }
  for (const Access& write : op.writes)
    writes.push_back(new_buffer("", op.results[write.tensor].element, write.projection.bounds(application.box)));
  call.regions = reads;
  call.regions.insert(call.regions.end(), writes.begin(), writes.end());
  add({std::move(call), 1, ++order_}, reads, writes);
  ++order_;
  for (std::size_t k = 0; k < op.writes.size(); ++k) {
    BufferId to = held(frame, application.results[op.writes[k].tensor]);
    Box part = intersect(at(writes[k]).box, at(to).box);
    if (!part.empty()) copy(writes[k], to, part, order_);
  }
  ++order_;
}

void Scheduler::region(Frame& frame, const Application& application, const Operator& op) {
  std::vector<BufferId> operands, results;
  for (std::size_t k = 0; k < application.operands.size(); ++k)
    operands.push_back(whole({held(frame, application.operands[k])}, op.operands[k]));
  if (op.region()->kind == RegionKind::iterate) {
    results = iterate(op, operands);
  } else {
    std::vector<Holders> found = graph(op.region()->graph, operands);
    for (std::size_t k = 0; k < found.size(); ++k) results.push_back(whole(found[k], op.results[k]));
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    TAP_CHECK(!frame.buffers[application.results[k].index()], "a region writes a part of a value");
    frame.buffers[application.results[k].index()] = results[k];
  }
}

// The first operands are the state, the others are the same in every step. The state has two memories that change places.
std::vector<BufferId> Scheduler::iterate(const Operator& op, const std::vector<BufferId>& operands) {
  const RegionBody& region = *op.region();
  Iteration loop{region.trips, schedule_.sequences.size(), {}};
  std::vector<BufferId> inputs = operands, results;
  for (std::size_t k = 0; k < op.results.size(); ++k) {
    BufferId now = new_buffer(at(operands[k]).name, at(operands[k]).element, at(operands[k]).box);
    copy(operands[k], now, at(now).box, order_);
    inputs[k] = now;
    results.push_back(now);
    fixed_.insert(now);
  }
  if (region.trips.empty()) return results;
  close();
  const std::int64_t begin = time_++;
  const std::size_t before = schedule_.buffers.size(), outer = sequence_;
  sequence_ = loop.body;
  schedule_.sequences.emplace_back();
  std::vector<Holders> found = graph(region.graph, inputs);
  std::set<BufferId> taken;
  for (std::size_t k = 0; k < results.size(); ++k) {
    BufferId next = next_state(found[k], op.results[k], taken, before);
    taken.insert(next);
    loop.states.emplace_back(results[k], next);
  }
  close();
  sequence_ = outer;
  schedule_.sequences[outer].push_back({{loop, 1, order_++}});
  // What comes from outside is needed until the last step; what is exchanged keeps its memory throughout.
  const std::int64_t end = time_++;
  for (std::size_t b = 0; b < before; ++b)
    if (Buffer& buffer = schedule_.buffers[b]; buffer.last >= begin) buffer.last = end;
  for (auto [now, next] : loop.states) {
    fixed_.insert(next);
    at(now).last = end;
    exchanged_.emplace_back(now, next);
  }
  return results;
}

// The memory that a step leaves a state in: that of the value, if the body made it and it is nothing else.
BufferId Scheduler::next_state(const Holders& holders, const TensorType& type, const std::set<BufferId>& taken,
                               std::size_t before) {
  Box box = Box::of_shape(type.shape);
  BufferId only = holders[0];
  if (holders.size() == 1 && only.index() >= before && at(only).box == box && !taken.contains(only) &&
      !fixed_.contains(only))
    return only;
  BufferId next = new_buffer(at(only).name, type.element, box);
  for (BufferId from : holders) copy(from, next, at(from).box, order_);
  ++order_;
  return next;
}

BufferId Scheduler::new_buffer(std::string name, ElementType element, Box box) {
  schedule_.buffers.push_back({std::move(name), element, std::move(box), BufferPlace::arena, 0, INT64_MAX, -1});
  schedule_.buffers.back().bytes();  // too many are told here
  return BufferId(schedule_.buffers.size() - 1);
}

BufferId Scheduler::held(Frame& frame, HeldId id) {
  auto& buffer = frame.buffers[id.index()];
  if (!buffer) {
    const Held& held = frame.blocks[id];
    const Value& value = frame.graph[held.value];
    buffer = new_buffer(value.name, value.type.element, held.box);
  }
  return *buffer;
}

BufferId Scheduler::whole(const Holders& holders, const TensorType& type) {
  Box box = Box::of_shape(type.shape);
  if (at(holders[0]).box == box) return holders[0];
  BufferId result = new_buffer(at(holders[0]).name, type.element, box);
  for (BufferId from : holders) copy(from, result, at(from).box, order_);
  ++order_;
  return result;
}

std::int64_t Scheduler::copy_tiles(BufferId id, const Box& box) const {
  auto bytes = box.size() * static_cast<std::int64_t>(size_of(schedule_.buffers[id.index()].element));
  return std::max<std::int64_t>(1, bytes / copy_bytes);
}

void Scheduler::copy(BufferId from, BufferId to, const Box& box, std::size_t order) {
  if (box.empty()) return;
  add({CopyBox{from, to, box}, copy_tiles(from, box), order}, {from}, {to});
}

void Scheduler::add(ScheduledTask task, const std::vector<BufferId>& reads, const std::vector<BufferId>& writes) {
  if (!open_.fits(task.order, reads, writes)) close();
  open_.add(task.order, reads, writes);
  for (const auto* list : {&reads, &writes})
    for (BufferId id : *list) use(id);
  batch_.push_back(std::move(task));
}

void Scheduler::use(BufferId id) {
  at(id).first = std::min(at(id).first, time_);
  at(id).last = std::max(at(id).last, time_);
}

void Scheduler::close() {
  open_ = {};
  if (batch_.empty()) return;
  schedule_.sequences[sequence_].push_back(std::move(batch_));
  batch_ = {};
  ++time_;
}

std::size_t Scheduler::operation_text(const Graph& graph, const Operation& operation) {
  const Operator& op = program_[operation.op];
  OperationText text;
  text.name = own_name(op, operation.names);
  if (!operation.results.empty()) text.result = graph[operation.results[0]].name;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    text.dims.push_back({own_dim_name(op, operation.names, d), is_block_dim(op, d)});
  for (ValueId v : operation.operands) text.operands.emplace_back(graph[v].name, graph[v].type.shape);
  schedule_.operations.push_back(std::move(text));
  return schedule_.operations.size() - 1;
}

// Of a group those of the operations inside follow, in order, and after one that is a group those inside of it.
std::size_t Scheduler::texts_of(const Frame& frame, const Operation& operation, const Operator& op) {
  auto number = OperationId(static_cast<std::size_t>(&operation - frame.graph.operations.data()));
  auto [it, fresh] = texts_.try_emplace({frame.blocks.graph, number}, schedule_.operations.size());
  if (!fresh) return it->second;
  std::size_t first = it->second;
  if (op.region()) texts_inside(op.region()->graph);
  else operation_text(frame.graph, operation);
  return first;
}

void Scheduler::texts_inside(GraphId group) {
  for (const Operation& operation : program_[group].operations) {
    operation_text(program_[group], operation);
    if (const RegionBody* inner = program_[operation.op].region()) texts_inside(inner->graph);
  }
}

}  // namespace

Schedule schedule(const BlockProgram& blocks, const KernelTable& kernels, const ScheduleOptions& options) {
  return Scheduler(blocks, kernels, options).run();
}

}  // namespace tap::backend
