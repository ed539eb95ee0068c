// Graphs and regions: operations one after another, each value allocated when it is first written (it may have several
// writers) and freed after its last use.
#include "ir/interpret/interpret.h"

#include <limits>

#include "ir/graph.h"
#include "ir/interpret/interpret_cell.h"
#include "ir/interpret/interpret_group.h"
#include "ir/interpret/interpret_operation.h"
#include "support/check.h"

namespace tap::ir {
namespace {

using oracle::Datum;

class Interpreter {
 public:
  Interpreter(const Program& program, const InterpretOptions& options) : program_(program), options_(options) {}

  std::vector<Datum> run(const Graph& graph, std::vector<Datum> inputs);

 private:
  void evaluate(const Graph& graph, const Operation& operation, std::vector<Datum>& values);
  void evaluate_region(const RegionBody& region, const Operation& operation, std::vector<Datum>& values);
  std::vector<Datum> iterate(const RegionBody& region, std::size_t states, std::vector<Datum> arguments);
  void evaluate_kernel(const Operator& op, const Operation& operation, std::vector<Datum>& values);
  void allocate(const Graph& graph, ValueId id, std::vector<Datum>& values) const;

  const Program& program_;
  const InterpretOptions& options_;
  std::vector<std::int64_t> counters_;  // of the active iterates, innermost last
};

bool exists(const Datum& datum) { return datum.value.data() != nullptr; }

// For each operation, the values that are not needed after it.
std::vector<std::vector<ValueId>> last_uses(const Graph& graph) {
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(graph.values.size(), never);
  for (std::size_t k = 0; k < graph.operations.size(); ++k) {
    for (ValueId v : graph.operations[k].operands) last[v.index()] = k;
    for (ValueId v : graph.operations[k].results) last[v.index()] = k;
  }
  for (ValueId v : graph.outputs) last[v.index()] = never;
  std::vector<std::vector<ValueId>> result(graph.operations.size());
  for (std::size_t v = 0; v < last.size(); ++v)
    if (last[v] != never) result[last[v]].push_back(ValueId(v));
  return result;
}

std::vector<Datum> Interpreter::run(const Graph& graph, std::vector<Datum> inputs) {
  TAP_CHECK(inputs.size() == graph.inputs.size(), "`" + graph.name + "` received a wrong number of inputs");
  std::vector<Datum> values(graph.values.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) values[graph.inputs[k].index()] = std::move(inputs[k]);
  auto unneeded_after = last_uses(graph);
  for (std::size_t k = 0; k < graph.operations.size(); ++k) {
    evaluate(graph, graph.operations[k], values);
    for (ValueId v : unneeded_after[k]) values[v.index()] = {};
  }
  std::vector<Datum> outputs;
  for (ValueId v : graph.outputs) {
    allocate(graph, v, values);
    outputs.push_back(values[v.index()]);
  }
  return outputs;
}

void Interpreter::allocate(const Graph& graph, ValueId id, std::vector<Datum>& values) const {
  Datum& datum = values[id.index()];
  if (exists(datum)) return;
  const TensorType& type = graph[id].type;
  datum.value = Tensor(type.element, type.shape);
  if (options_.with_bounds) datum.bound = Tensor(ElementType::f64, type.shape);
}

void Interpreter::evaluate(const Graph& graph, const Operation& operation, std::vector<Datum>& values) {
  const Operator& op = program_[operation.op];
  for (ValueId v : operation.operands) allocate(graph, v, values);  // an empty value may have no writer
  if (const RegionBody* region = op.region()) return evaluate_region(*region, operation, values);
  for (ValueId v : operation.results) allocate(graph, v, values);
  if (op.kernel()) return evaluate_kernel(op, operation, values);
  if (op.transfer()) {
    values[operation.results[0].index()] = values[operation.operands[0].index()];
    return;
  }
  oracle::OperationInput input{program_, op, options_, counters_, {}, {}, operation.names};
  for (ValueId v : operation.operands) {
    input.operands.push_back(&values[v.index()]);
    input.operand_names.push_back(graph[v].name);
  }
  std::vector<Datum*> results;
  for (ValueId v : operation.results) results.push_back(&values[v.index()]);
  if (!operation.results.empty()) input.result = graph[operation.results[0]].name;
  oracle::evaluate_operation(input, results);
}

void Interpreter::evaluate_region(const RegionBody& region, const Operation& operation, std::vector<Datum>& values) {
  std::vector<Datum> arguments;
  for (ValueId v : operation.operands) arguments.push_back(values[v.index()]);
  bool in_blocks = region.kind == RegionKind::group && options_.group_block > 0;
  std::vector<Datum> results =
      region.kind == RegionKind::iterate ? iterate(region, operation.results.size(), std::move(arguments))
      : in_blocks ? oracle::evaluate_group({program_, program_[operation.op], options_, counters_}, arguments)
                  : run(program_[region.graph], std::move(arguments));
  for (std::size_t k = 0; k < results.size(); ++k) values[operation.results[k].index()] = std::move(results[k]);
}

// The first arguments are the state; the others are the same in every trip.
std::vector<Datum> Interpreter::iterate(const RegionBody& region, std::size_t states, std::vector<Datum> arguments) {
  for (std::int64_t trip = region.trips.lo; trip < region.trips.hi; ++trip) {
    counters_.push_back(trip);
    std::vector<Datum> state = run(program_[region.graph], arguments);
    counters_.pop_back();
    for (std::size_t k = 0; k < states; ++k) arguments[k] = std::move(state[k]);
  }
  arguments.resize(states);
  return arguments;
}

// An outside kernel is deterministic: exact operands give exact results. Otherwise nothing is known.
void Interpreter::evaluate_kernel(const Operator& op, const Operation& operation, std::vector<Datum>& values) {
  std::vector<Tensor> operands, results;
  bool exact = true;
  for (ValueId v : operation.operands) {
    const Datum& datum = values[v.index()];
    operands.push_back(datum.value);
    for (std::int64_t k = 0; k < datum.bound.size(); ++k) exact = exact && datum.bound.load_f64(k) == 0;
  }
  for (ValueId v : operation.results) results.push_back(std::move(values[v.index()].value));
  if (!options_.kernel || !options_.kernel(op, operands, results)) {
    throw EvaluationError{"the outside kernel `" + op.kernel()->symbol + "` of `" + op.name + "` is not available"};
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    Datum& datum = values[operation.results[k].index()];
    datum.value = std::move(results[k]);
    for (std::int64_t c = 0; !exact && c < datum.bound.size(); ++c) {
      datum.bound.store_f64(c, std::numeric_limits<double>::infinity());
    }
  }
}

}  // namespace

InterpretResult interpret(const Program& program, GraphId graph, const std::vector<Tensor>& inputs,
                          const InterpretOptions& options) {
  std::vector<Datum> data;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const TensorType& type = program[graph][program[graph].inputs.at(k)].type;
    TAP_CHECK(inputs[k].type() == type.element && inputs[k].shape() == type.shape,
              "an input does not have the graph's type");
    data.push_back({inputs[k], {}});
  }
  InterpretResult result;
  for (Datum& output : Interpreter(program, options).run(program[graph], std::move(data))) {
    if (options.with_bounds && !output.has_bound()) output.bound = Tensor(ElementType::f64, output.value.shape());
    result.outputs.push_back(std::move(output.value));
    if (options.with_bounds) result.bounds.push_back(std::move(output.bound));
  }
  return result;
}

}  // namespace tap::ir
