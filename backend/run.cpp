// Running a compiled program: operations in order, the applications of each on the thread pool. A value is allocated when
// it is first written (it may have several writers) and freed after its last use.
#include <fmt/format.h>

#include <algorithm>

#include "backend/compiled_program.h"
#include "ir/interpret.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

class Runner {
 public:
  Runner(const CompiledProgram& compiled, const ExecuteOptions& options, ThreadPool& pool)
      : compiled_(compiled), options_(options), pool_(pool) {}
  std::vector<Tensor> run(GraphId id, std::vector<Tensor> inputs);

 private:
  using Values = std::vector<Tensor>;
  void apply(const BlockGraph& graph, const BlockOperation& operation, Values& values);
  void apply_kernel(const BlockGraph& graph, const BlockOperation& operation, Values& values);
  void apply_outside_kernel(const BlockOperation& operation, Values& values);
  void apply_region(const RegionBody& region, const BlockOperation& operation, Values& values);
  std::vector<Tensor> iterate(const RegionBody& region, std::size_t states, std::vector<Tensor> arguments);
  std::vector<std::int64_t> box_argument(const Operator& op, const Box& box) const;
  [[noreturn]] void report(const BlockGraph& graph, const BlockOperation& operation, KernelFailure why,
                           const KernelError& error) const;

  const CompiledProgram& compiled_;
  const ExecuteOptions& options_;
  ThreadPool& pool_;
  std::vector<std::int64_t> counters_;  // of the iterates that run, the innermost last
};

void allocate(const BlockGraph& graph, ValueId id, std::vector<Tensor>& values) {
  const TensorType& type = graph[id].type;
  if (!values[id.index()].data()) values[id.index()] = Tensor(type.element, type.shape);
}

// For each operation, the values that nobody needs after it.
std::vector<std::vector<ValueId>> last_uses(const BlockGraph& graph) {
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(graph.values.size(), never);
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    for (ValueId v : graph.operations[o].operands) last[v.index()] = o;
    for (ValueId v : graph.operations[o].results) last[v.index()] = o;
  }
  for (ValueId v : graph.outputs) last[v.index()] = never;
  std::vector<std::vector<ValueId>> result(graph.operations.size());
  for (std::size_t v = 0; v < last.size(); ++v)
    if (last[v] != never) result[last[v]].push_back(ValueId{v});
  return result;
}

std::vector<Tensor> Runner::run(GraphId id, std::vector<Tensor> inputs) {
  const BlockGraph& graph = compiled_.blocks.graphs[id.index()];
  TAP_CHECK(inputs.size() == graph.inputs.size(), "a graph is given another number of inputs than it has");
  Values values(graph.values.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const TensorType& type = graph[graph.inputs[k]].type;
    TAP_CHECK(inputs[k].type() == type.element && inputs[k].shape() == type.shape,
              "an input is not of the graph's type");
    values[graph.inputs[k].index()] = std::move(inputs[k]);
  }
  auto unneeded = last_uses(graph);
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    apply(graph, graph.operations[o], values);
    for (ValueId v : unneeded[o]) values[v.index()] = {};
  }
  std::vector<Tensor> outputs;
  for (ValueId v : graph.outputs) {
    allocate(graph, v, values);
    outputs.push_back(values[v.index()]);
  }
  return outputs;
}

void Runner::apply(const BlockGraph& graph, const BlockOperation& operation, Values& values) {
  const Operator& op = compiled_.blocks.program[operation.op];
  for (ValueId v : operation.operands) allocate(graph, v, values);  // one of size zero may have no writer
  if (const RegionBody* region = op.region()) return apply_region(*region, operation, values);
  for (ValueId v : operation.results) allocate(graph, v, values);
  if (op.kernel()) return apply_outside_kernel(operation, values);
  apply_kernel(graph, operation, values);
}

std::vector<std::int64_t> Runner::box_argument(const Operator& op, const Box& box) const {
  std::vector<std::int64_t> result;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    Range range = box.dims[d];
    if (op.dims[d].role == DimRole::counter) {
      std::int64_t trip = counters_.at(counters_.size() - 1 - op.dims[d].level);
      range = {trip, trip + 1};
    }
    result.push_back(range.lo);
    result.push_back(range.hi);
  }
  return result;
}

void Runner::apply_kernel(const BlockGraph& graph, const BlockOperation& operation, Values& values) {
  const Operator& op = compiled_.blocks.program[operation.op];
  KernelFunction function = compiled_.functions[*compiled_.kernel_of[operation.op.index()]];
  std::vector<void*> buffers;
  std::vector<std::int64_t> strides;
  auto add_strides = [&](ValueId v) {
    for (std::int64_t s : row_major_strides(graph[v].type.shape)) strides.push_back(s);
  };
  for (ValueId v : operation.operands) {
    buffers.push_back(const_cast<std::byte*>(values[v.index()].data()));
    add_strides(v);
  }
  for (ValueId v : operation.results) {
    buffers.push_back(values[v.index()].mutable_data());
    add_strides(v);
  }
  strides.push_back(0);  // never empty
  struct Outcome {
    std::int32_t why = 0;
    KernelError error;
  };
  std::vector<Outcome> outcomes(operation.applications.size());
  pool_.run(outcomes.size(), [&](std::size_t a) {
    auto box = box_argument(op, operation.applications[a].box);
    outcomes[a].why = function(box.data(), buffers.data(), strides.data(), &outcomes[a].error);
  });
  // Of several failures the first in the order of the index space, whatever the blocks and threads.
  const Outcome* first = nullptr;
  for (const Outcome& o : outcomes) {
    auto earlier = [&] {
      return std::lexicographical_compare(o.error.point, o.error.point + op.dims.size(), first->error.point,
                                          first->error.point + op.dims.size());
    };
    if (o.why != 0 && (!first || earlier())) first = &o;
  }
  if (first) report(graph, operation, static_cast<KernelFailure>(first->why), first->error);
}

void Runner::apply_outside_kernel(const BlockOperation& operation, Values& values) {
  const Operator& op = compiled_.blocks.program[operation.op];
  std::vector<Tensor> operands, results;
  for (ValueId v : operation.operands) operands.push_back(values[v.index()]);
  for (ValueId v : operation.results) results.push_back(std::move(values[v.index()]));
  if (!options_.kernel || !options_.kernel(op, operands, results))
    throw EvaluationError{"the outside kernel `" + op.kernel()->symbol + "` of `" + op.name + "` is not available"};
  for (std::size_t k = 0; k < results.size(); ++k) values[operation.results[k].index()] = std::move(results[k]);
}

void Runner::apply_region(const RegionBody& region, const BlockOperation& operation, Values& values) {
  std::vector<Tensor> arguments;
  for (ValueId v : operation.operands) arguments.push_back(values[v.index()]);
  std::vector<Tensor> results = region.kind == RegionKind::iterate
                                    ? iterate(region, operation.results.size(), std::move(arguments))
                                    : run(region.graph, std::move(arguments));
  for (std::size_t k = 0; k < results.size(); ++k) values[operation.results[k].index()] = std::move(results[k]);
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
void Runner::report(const BlockGraph& graph, const BlockOperation& operation, KernelFailure why,
                    const KernelError& error) const {
  const Operator& op = compiled_.blocks.program[operation.op];
  std::string tensor;
  std::int64_t extent = 0;
  if (why == KernelFailure::index_out_of_range) {
    ValueId operand = operation.operands.at(static_cast<std::size_t>(error.tensor));
    tensor = graph[operand].name;
    extent = graph[operand].type.shape.at(static_cast<std::size_t>(error.axis));
  }
  std::string text = describe(why, error, tensor, extent) + " in `" + op.name + "`";
  bool first = true;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    bool block =
        std::any_of(operation.splits.begin(), operation.splits.end(), [&](const auto& s) { return s.block_dim == d; });
    if (block) continue;
    text += fmt::format("{}{}={}", first ? " at " : ", ", op.dims[d].name, error.point[d]);
    first = false;
  }
  throw EvaluationError{text};
}

}  // namespace

std::vector<Tensor> run(const CompiledProgram& compiled, const std::vector<Tensor>& inputs,
                        const ExecuteOptions& options, ThreadPool& pool) {
  return Runner(compiled, options, pool).run(compiled.blocks.program.main, inputs);
}

}  // namespace tap::backend
