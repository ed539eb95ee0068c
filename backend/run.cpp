// Running a compiled program: tasks in order, the applications of one operation together on the thread pool. Devices are
// memory of their own: a box is allocated when it is first touched and freed after its last use.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "backend/compiled_program.h"
#include "backend/group_tiles.h"
#include "backend/patterns.h"
#include "backend/run_group.h"
#include "ir/interpret.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

// A box of a value in memory.
struct Buffer {
  Tensor tensor;  // of the box's shape
  Box box;
};

class Runner {
 public:
  Runner(const CompiledProgram& compiled, const ExecuteOptions& options, ThreadPool& pool)
      : compiled_(compiled), options_(options), pool_(pool) {}
  std::vector<Tensor> run(GraphId id, std::vector<Tensor> inputs);
  std::size_t inner_bytes() const { return inner_memory_.most; }

 private:
  using Memory = std::vector<Buffer>;  // by HeldId
  using Tasks = std::span<const Task>;

  Tasks next_batch(const BlockGraph& graph, std::size_t first) const;
  void run(const BlockGraph& graph, Tasks batch, Memory& memory);
  void move(const BlockGraph& graph, const Move& move, Memory& memory);
  void apply_kernel(const BlockGraph& graph, Tasks batch, Memory& memory);
  void apply_outside_kernel(const BlockGraph& graph, const Application& task, Memory& memory);
  void apply_group(const BlockGraph& graph, Tasks batch, Memory& memory);
  void apply_region(const BlockGraph& graph, const Application& task, Memory& memory);
  std::vector<Tensor> iterate(const RegionBody& region, std::size_t states, std::vector<Tensor> arguments);

  struct Arguments {
    std::vector<View> operands, results;
  };
  Arguments arguments_of(const BlockGraph& graph, const Application& task, Memory& memory) const;
  Buffer& at(const BlockGraph& graph, HeldId id, Memory& memory) const;
  Tensor whole(const BlockGraph& graph, const std::vector<HeldId>& holders, Memory& memory) const;
  struct TileRange {
    std::int64_t first, end;
  };
  std::vector<TileRange> shared_out(const Kernel& kernel, const Box& box, bool alone) const;
  const Graph& graph_of(const BlockGraph& blocks) const { return compiled_.blocks.program[blocks.graph]; }
  const Operator& operator_of(const BlockGraph& blocks, OperationId o) const {
    return compiled_.blocks.program[graph_of(blocks)[o].op];
  }
  [[noreturn]] void report(const Graph& graph, const Operation& operation, KernelFailure why,
                           const KernelError& error) const;

  const CompiledProgram& compiled_;
  const ExecuteOptions& options_;
  ThreadPool& pool_;
  std::vector<std::int64_t> counters_;  // of the iterates that run, the innermost last
  InnerMemory inner_memory_;
};

// For each task, the boxes that nobody needs after it.
std::vector<std::vector<HeldId>> last_uses(const BlockGraph& graph) {
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(graph.held.size(), never);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    if (auto* move = std::get_if<Move>(&graph.tasks[t])) {
      last[move->from.index()] = last[move->to.index()] = t;
      continue;
    }
    const auto& application = std::get<Application>(graph.tasks[t]);
    for (HeldId id : application.operands) last[id.index()] = t;
    for (HeldId id : application.results) last[id.index()] = t;
  }
  for (const auto& holders : graph.outputs)
    for (HeldId id : holders) last[id.index()] = never;
  std::vector<std::vector<HeldId>> result(graph.tasks.size());
  for (std::size_t h = 0; h < last.size(); ++h)
    if (last[h] != never) result[last[h]].push_back(HeldId{h});
  return result;
}

std::vector<Tensor> Runner::run(GraphId id, std::vector<Tensor> inputs) {
  const BlockGraph& graph = compiled_.blocks.graphs[id.index()];
  TAP_CHECK(inputs.size() == graph.inputs.size(), "a graph is given another number of inputs than it has");
  Memory memory(graph.held.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Held& held = graph[graph.inputs[k]];
    const TensorType& type = graph_of(graph)[held.value].type;
    TAP_CHECK(inputs[k].type() == type.element && inputs[k].shape() == type.shape,
              "an input is not of the graph's type");
    memory[graph.inputs[k].index()] = {std::move(inputs[k]), held.box};
  }
  auto unneeded = last_uses(graph);
  for (std::size_t t = 0; t < graph.tasks.size();) {
    Tasks batch = next_batch(graph, t);
    run(graph, batch, memory);
    for (std::size_t end = t + batch.size(); t < end; ++t)
      for (HeldId h : unneeded[t]) memory[h.index()] = {};
  }
  std::vector<Tensor> outputs;
  for (const auto& holders : graph.outputs) outputs.push_back(whole(graph, holders, memory));
  return outputs;
}

// Applications of one operation are independent of each other.
Runner::Tasks Runner::next_batch(const BlockGraph& graph, std::size_t first) const {
  std::size_t end = first + 1;
  if (auto* application = std::get_if<Application>(&graph.tasks[first]))
    for (; end < graph.tasks.size(); ++end) {
      auto* other = std::get_if<Application>(&graph.tasks[end]);
      if (!other || other->operation != application->operation) break;
    }
  return Tasks(graph.tasks).subspan(first, end - first);
}

void Runner::run(const BlockGraph& graph, Tasks batch, Memory& memory) {
  if (auto* m = std::get_if<Move>(&batch[0])) return move(graph, *m, memory);
  const Operator& op = operator_of(graph, std::get<Application>(batch[0]).operation);
  if (op.map() || op.reduce()) return apply_kernel(graph, batch, memory);
  if (op.region() && op.region()->kind == RegionKind::group) return apply_group(graph, batch, memory);
  for (const Task& task : batch) {
    const auto& application = std::get<Application>(task);
    if (op.kernel()) apply_outside_kernel(graph, application, memory);
    else apply_region(graph, application, memory);
  }
}

// Allocated when it is first touched.
Buffer& Runner::at(const BlockGraph& graph, HeldId id, Memory& memory) const {
  Buffer& buffer = memory[id.index()];
  if (buffer.tensor.data()) return buffer;
  const Held& held = graph[id];
  buffer = {Tensor(graph_of(graph)[held.value].type.element, held.box.shape()), held.box};
  return buffer;
}

std::int64_t position(const Box& within, const std::vector<std::int64_t>& strides, const Point& p) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < p.size(); ++d) at += (p[d] - within.dims[d].lo) * strides[d];
  return at;
}

// Row by row: the last axis is contiguous in both.
void copy_box(const Buffer& from, Buffer& to, Box box) {
  if (box.empty()) return;
  std::vector<std::int64_t> from_strides = row_major_strides(from.tensor.shape()),
                            to_strides = row_major_strides(to.tensor.shape());
  std::size_t size = size_of(from.tensor.type());
  std::size_t row = size;
  if (box.rank() > 0) {
    row *= static_cast<std::size_t>(box.dims.back().size());
    box.dims.back().hi = box.dims.back().lo + 1;
  }
  std::byte* target = to.tensor.mutable_data();
  auto at = first_point(box);
  for (bool more = at.has_value(); more; more = next_point(box, *at))
    std::memcpy(target + static_cast<std::size_t>(position(to.box, to_strides, *at)) * size,
                from.tensor.data() + static_cast<std::size_t>(position(from.box, from_strides, *at)) * size, row);
}

void Runner::move(const BlockGraph& graph, const Move& move, Memory& memory) {
  copy_box(at(graph, move.from, memory), at(graph, move.to, memory), move.box);
}

Tensor Runner::whole(const BlockGraph& graph, const std::vector<HeldId>& holders, Memory& memory) const {
  const TensorType& type = graph_of(graph)[graph[holders.at(0)].value].type;
  Box box = Box::of_shape(type.shape);
  if (graph[holders[0]].box == box) return at(graph, holders[0], memory).tensor;
  Buffer result{Tensor(type.element, type.shape), box};
  for (HeldId id : holders) copy_box(at(graph, id, memory), result, graph[id].box);
  return result.tensor;
}

// An application that stands alone is shared out among the threads, by its tiles.
std::vector<Runner::TileRange> Runner::shared_out(const Kernel& kernel, const Box& box, bool alone) const {
  std::int64_t tiles = tile_count(kernel, box);
  std::int64_t parts = 1;
  if (alone && options_.blocks > 0) parts = static_cast<std::int64_t>(options_.blocks);
  else if (alone) parts = std::min<std::int64_t>(static_cast<std::int64_t>(options_.threads), tiles / kernel.worth);
  std::vector<TileRange> ranges;
  for (Range part : ceil_blocks({0, tiles}, std::max<std::int64_t>(parts, 1)))
    if (!part.empty() || ranges.empty()) ranges.push_back({part.lo, part.hi});
  return ranges;
}

// Where the operands and results of an application lie.
Runner::Arguments Runner::arguments_of(const BlockGraph& graph, const Application& task, Memory& memory) const {
  Arguments found;
  auto view = [](const Buffer& b, const std::byte* data) { return view_of_box(data, b.tensor.type(), b.box); };
  for (HeldId id : task.results) {  // first: it may copy what is shared
    Buffer& buffer = at(graph, id, memory);
    found.results.push_back(view(buffer, buffer.tensor.mutable_data()));
  }
  for (HeldId id : task.operands) {
    const Buffer& buffer = at(graph, id, memory);
    found.operands.push_back(view(buffer, buffer.tensor.data()));
  }
  return found;
}

void Runner::apply_kernel(const BlockGraph& graph, Tasks batch, Memory& memory) {
  const OperationId operation = std::get<Application>(batch[0]).operation;
  const Operator& op = operator_of(graph, operation);
  const std::size_t number = *compiled_.kernel_of[graph_of(graph)[operation].op.index()];
  const Kernel& kernel = compiled_.kernels[number];
  std::vector<Call> calls;
  for (const Task& task : batch) {
    const auto& application = std::get<Application>(task);
    Call common;
    Arguments arguments = arguments_of(graph, application, memory);
    for (const View& view : arguments.operands) common.add(view);
    for (const View& view : arguments.results) common.add(view);
    common.box = box_argument(op, application.box, counters_);
    for (TileRange tiles : shared_out(kernel, application.box, batch.size() == 1)) {
      common.first_tile = tiles.first;
      common.end_tile = tiles.end;
      calls.push_back(common);
    }
  }
  std::size_t scratch = scratch_bytes(kernel);
  pool_.run(calls.size(), [&](std::size_t c) { calls[c].run(compiled_.functions[number], thread_scratch(scratch)); });
  // Of several failures the first in the order of the index space, whatever the blocks and threads.
  const Call* first = nullptr;
  for (const Call& c : calls) {
    auto earlier = [&] {
      return std::lexicographical_compare(c.error.point, c.error.point + op.dims.size(), first->error.point,
                                          first->error.point + op.dims.size());
    };
    if (c.why != 0 && (!first || earlier())) first = &c;
  }
  if (first) report(graph_of(graph), graph_of(graph)[operation], static_cast<KernelFailure>(first->why), first->error);
}

// All tiles of all applications, each by one thread.
void Runner::apply_group(const BlockGraph& graph, Tasks batch, Memory& memory) {
  const OperatorId id = graph_of(graph)[std::get<Application>(batch[0]).operation].op;
  const Operator& op = compiled_.blocks.program[id];
  std::vector<GroupArguments> arguments;
  std::vector<std::pair<std::size_t, Box>> tiles;  // of which application
  for (const Task& task : batch) {
    const auto& application = std::get<Application>(task);
    Arguments found = arguments_of(graph, application, memory);
    std::size_t least = batch.size() == 1 && options_.threads > 1 ? 4 * options_.threads : 1;
    for (Box& tile : group_tiles(op, application.box, compiled_.groups.at(id).points, least))
      tiles.emplace_back(arguments.size(), std::move(tile));
    arguments.push_back({id, std::move(found.operands), std::move(found.results)});
  }
  std::vector<std::optional<GroupFailure>> failures(tiles.size());
  std::atomic<bool> out_of_memory = false;
  pool_.run(tiles.size(), [&](std::size_t t) {
    try {
      failures[t] = run_tile(compiled_, arguments[tiles[t].first], tiles[t].second, counters_, inner_memory_);
    } catch (const std::bad_alloc&) { out_of_memory = true; }
  });
  if (out_of_memory) throw std::bad_alloc();
  for (const auto& failure : failures) {
    if (!failure) continue;
    const Graph& inner = compiled_.blocks.program[failure->graph];
    report(inner, inner[failure->operation], failure->why, failure->error);
  }
}

// Gives whole results; the box's part is kept.
void Runner::apply_outside_kernel(const BlockGraph& graph, const Application& task, Memory& memory) {
  const Operator& op = operator_of(graph, task.operation);
  std::vector<Tensor> operands, results;
  for (HeldId id : task.operands) operands.push_back(whole(graph, {id}, memory));
  for (const TensorType& type : op.results) results.emplace_back(type.element, type.shape);
  if (!options_.kernel || !options_.kernel(op, operands, results))
    throw EvaluationError{"the outside kernel `" + op.kernel()->symbol + "` of `" +
                          own_name(op, graph_of(graph)[task.operation].names) + "` is not available"};
  for (std::size_t k = 0; k < results.size(); ++k) {
    Box part = written_region(op, static_cast<std::uint32_t>(k), task.box);
    copy_box({results[k], Box::of_shape(results[k].shape())}, at(graph, task.results[k], memory), part);
  }
}

void Runner::apply_region(const BlockGraph& graph, const Application& task, Memory& memory) {
  const Operator& op = operator_of(graph, task.operation);
  const RegionBody& region = *op.region();
  std::vector<Tensor> arguments;
  for (HeldId id : task.operands) arguments.push_back(whole(graph, {id}, memory));
  std::vector<Tensor> results = region.kind == RegionKind::iterate
                                    ? iterate(region, task.results.size(), std::move(arguments))
                                    : run(region.graph, std::move(arguments));
  for (std::size_t k = 0; k < results.size(); ++k) {
    Box box = Box::of_shape(results[k].shape());
    memory[task.results[k].index()] = {std::move(results[k]), box};
  }
}

// The first arguments are the state; the others are the same in every step.
std::vector<Tensor> Runner::iterate(const RegionBody& region, std::size_t states, std::vector<Tensor> arguments) {
  for (std::int64_t trip = region.trips.lo; trip < region.trips.hi; ++trip) {
    counters_.push_back(trip);
    std::vector<Tensor> state = run(region.graph, arguments);
    counters_.pop_back();
    for (std::size_t k = 0; k < states; ++k) arguments[k] = std::move(state[k]);
  }
  arguments.resize(states);
  return arguments;
}

std::string describe(KernelFailure why, const KernelError& error, const std::string& tensor, std::int64_t extent) {
  switch (why) {
    case KernelFailure::division_by_zero: return "division by zero";
    case KernelFailure::remainder_by_zero: return "remainder of a division by zero";
    case KernelFailure::index_out_of_range:
      return fmt::format("index {} is out of range for axis {} of `{}`, which has extent {},", error.value, error.axis,
                         tensor, extent);
    case KernelFailure::negative_shift: return fmt::format("shift by the negative number {}", error.value);
    case KernelFailure::none: break;
  }
  TAP_UNREACHABLE("a kernel stopped without a reason");
}

// The message names the operation and the point, as the interpreter does; a block's number is nothing the user wrote.
void Runner::report(const Graph& graph, const Operation& operation, KernelFailure why, const KernelError& error) const {
  const Operator& op = compiled_.blocks.program[operation.op];
  std::string tensor;
  std::int64_t extent = 0;
  if (why == KernelFailure::index_out_of_range) {
    ValueId operand = operation.operands.at(static_cast<std::size_t>(error.tensor));
    tensor = graph[operand].name;
    extent = graph[operand].type.shape.at(static_cast<std::size_t>(error.axis));
  }
  std::string text = describe(why, error, tensor, extent) + " in `" + own_name(op, operation.names) + "`";
  bool first = true;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (is_block_dim(op, static_cast<std::uint32_t>(d))) continue;
    text += fmt::format("{}{}={}", first ? " at " : ", ", own_dim_name(op, operation.names, d), error.point[d]);
    first = false;
  }
  throw EvaluationError{text, operation.results.empty() ? "" : graph[operation.results[0]].name};
}

}  // namespace

RunResult run(const CompiledProgram& compiled, const std::vector<Tensor>& inputs, const ExecuteOptions& options,
              ThreadPool& pool) {
  Runner runner(compiled, options, pool);
  RunResult result{runner.run(compiled.blocks.program.main, inputs), 0};
  result.inner_bytes = runner.inner_bytes();
  return result;
}

}  // namespace tap::backend
