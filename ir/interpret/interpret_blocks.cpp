#include "ir/interpret/interpret_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/interpret/interpret_group.h"
#include "ir/interpret/interpret_operation.h"
#include "support/check.h"

namespace tap::ir {
namespace {

using oracle::Datum;

void poison(Tensor& t) {
  for (std::int64_t k = 0; k < t.size(); ++k) {
    if (is_float(t.type())) t.store_f64(k, std::numeric_limits<double>::quiet_NaN());
    else t.store_i64(k, is_bool(t.type()) ? 0 : least_integer(t.type()));
  }
}

Datum blank(const TensorType& type, bool with_bounds) {
  Datum datum{Tensor(type.element, type.shape), {}};
  poison(datum.value);
  if (with_bounds) datum.bound = Tensor(ElementType::f64, type.shape);
  return datum;
}

void copy_cell(const Tensor& from, Tensor& to, std::int64_t position) {
  if (is_float(from.type())) to.store_f64(position, from.load_f64(position));
  else to.store_i64(position, from.load_i64(position));
}

// Copies the cells of a box between tensors of one shape.
void copy_box(const Datum& from, Datum& to, const Box& box) {
  std::vector<std::int64_t> strides = row_major_strides(from.value.shape());
  auto at = first_point(box);
  for (bool more = at.has_value(); more; more = next_point(box, *at)) {
    std::int64_t position = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) position += strides[d] * (*at)[d];
    copy_cell(from.value, to.value, position);
    if (to.bound.data() && from.bound.data()) copy_cell(from.bound, to.bound, position);
  }
}

class BlockInterpreter {
 public:
  BlockInterpreter(const BlockProgram& blocks, const InterpretOptions& options) : blocks_(blocks), options_(options) {}

  std::vector<Datum> run(GraphId id, std::vector<Datum> inputs) {
    const BlockGraph& graph = of_each_device(id);
    std::vector<Datum> memory(graph.held.size());
    for (HeldId id : graph.inputs) {
      const std::vector<ValueId>& given = program()[graph.graph].inputs;
      Datum& input =
          inputs[static_cast<std::size_t>(std::find(given.begin(), given.end(), graph[id].value) - given.begin())];
      if (graph[id].device == everywhere) memory[id.index()] = std::move(input);
      else copy_box(input, at(graph, id, memory), graph[id].box);  // for a state: this device's box
    }
    for (const Task& task : graph.tasks) std::visit([&](const auto& t) { run(graph, t, memory); }, task);
    std::vector<Datum> outputs;
    for (std::size_t k = 0; k < graph.outputs.size(); ++k) outputs.push_back(assembled(graph, k, memory));
    return outputs;
  }

 private:
  const Program& program() const { return blocks_.program; }
  const BlockGraph& of_each_device(GraphId id) {
    auto [known, fresh] = alone_.try_emplace(id);
    if (fresh) known->second = one_by_one(blocks_.graphs[id.index()]);
    return known->second;
  }
  const TensorType& type_of(const BlockGraph& graph, HeldId id) const {
    return program()[graph.graph][graph[id].value].type;
  }

  // An output consists of the boxes of all its holders.
  Datum assembled(const BlockGraph& graph, std::size_t output, std::vector<Datum>& memory) {
    const std::vector<HeldId>& holders = graph.outputs[output];
    if (holders.size() == 1) return at(graph, holders[0], memory);
    Datum whole = blank(type_of(graph, holders[0]), options_.with_bounds);
    for (HeldId id : holders) copy_box(at(graph, id, memory), whole, graph[id].box);
    return whole;
  }

  Datum& at(const BlockGraph& graph, HeldId id, std::vector<Datum>& memory) {
    Datum& datum = memory[id.index()];
    if (!datum.value.data()) datum = blank(type_of(graph, id), options_.with_bounds);
    return datum;
  }

  void run(const BlockGraph& graph, const Move& move, std::vector<Datum>& memory) {
    copy_box(at(graph, move.from.id, memory), at(graph, move.to.id, memory), move.box);
  }

  void run(const BlockGraph& graph, const Application& task, std::vector<Datum>& memory) {
    const Graph& whole = program()[graph.graph];
    const Operation& operation = whole[task.operation];
    const Operator& op = program()[operation.op];
    if (op.region() && op.region()->kind == RegionKind::group) return group(graph, task, op, memory);
    if (op.region()) return region(graph, task, op, memory);
    if (op.kernel()) return kernel(graph, task, op, memory);
    oracle::OperationInput input{program(), op, options_, counters_, {}, {}, operation.names};
    for (std::size_t k = 0; k < task.operands.size(); ++k) {
      input.operands.push_back(&at(graph, task.operands[k].id, memory));
      input.operand_names.push_back(whole[operation.operands[k]].name);
    }
    std::vector<Datum*> results;
    for (HeldMember m : task.results) results.push_back(&at(graph, m.id, memory));
    if (!operation.results.empty()) input.result = whole[operation.results[0]].name;
    oracle::evaluate_operation(input, results, task.box);
  }

  void group(const BlockGraph& graph, const Application& task, const Operator& op, std::vector<Datum>& memory) {
    std::vector<const Datum*> operands;
    for (HeldMember m : task.operands) operands.push_back(&at(graph, m.id, memory));
    std::vector<Datum*> results;
    for (HeldMember m : task.results) results.push_back(&at(graph, m.id, memory));
    oracle::evaluate_group({program(), op, options_, counters_}, task.box, operands, results);
  }

  void region(const BlockGraph& graph, const Application& task, const Operator& op, std::vector<Datum>& memory) {
    std::vector<Datum> arguments;
    for (HeldMember m : task.operands) arguments.push_back(at(graph, m.id, memory));
    const RegionBody& body = *op.region();
    std::vector<Datum> results = body.kind == RegionKind::iterate
                                     ? iterate(body, task.results.size(), std::move(arguments))
                                     : run(body.graph, std::move(arguments));
    for (std::size_t k = 0; k < results.size(); ++k)
      copy_box(results[k], at(graph, task.results[k].id, memory), Box::of_shape(results[k].value.shape()));
  }

  std::vector<Datum> iterate(const RegionBody& body, std::size_t states, std::vector<Datum> arguments) {
    for (std::int64_t trip = body.trips.lo; trip < body.trips.hi; ++trip) {
      counters_.push_back(trip);
      std::vector<Datum> state = run(body.graph, arguments);
      counters_.pop_back();
      for (std::size_t k = 0; k < states; ++k) arguments[k] = std::move(state[k]);
    }
    arguments.resize(states);
    return arguments;
  }

  // An outside kernel computes whole results; only the box's part is kept.
  void kernel(const BlockGraph& graph, const Application& task, const Operator& op, std::vector<Datum>& memory) {
    std::vector<Tensor> operands, results;
    for (HeldMember m : task.operands) operands.push_back(at(graph, m.id, memory).value);
    for (const TensorType& type : op.results) results.emplace_back(type.element, type.shape);
    if (!options_.kernel || !options_.kernel(op, operands, results))
      throw EvaluationError{"the outside kernel `" + op.kernel()->symbol + "` of `" + op.name + "` is not available"};
    for (std::size_t k = 0; k < results.size(); ++k) {
      Datum whole{results[k], options_.with_bounds ? Tensor(ElementType::f64, results[k].shape()) : Tensor()};
      for (std::int64_t c = 0; c < whole.bound.size(); ++c)
        whole.bound.store_f64(c, std::numeric_limits<double>::infinity());
      copy_box(whole, at(graph, task.results[k].id, memory),
               written_region(op, static_cast<std::uint32_t>(k), task.box));
    }
  }

  const BlockProgram& blocks_;
  const InterpretOptions& options_;
  std::vector<std::int64_t> counters_;
  std::map<GraphId, BlockGraph> alone_;
};

}  // namespace

InterpretResult interpret(const BlockProgram& blocks, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options) {
  std::vector<Datum> arguments;
  for (const Tensor& input : inputs)
    arguments.push_back({input, options.with_bounds ? Tensor(ElementType::f64, input.shape()) : Tensor()});
  InterpretResult result;
  for (Datum& output : BlockInterpreter(blocks, options).run(blocks.program.main, std::move(arguments))) {
    result.outputs.push_back(std::move(output.value));
    if (options.with_bounds) result.bounds.push_back(std::move(output.bound));
  }
  return result;
}

}  // namespace tap::ir
