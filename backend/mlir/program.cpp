#include "backend/mlir/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backend/mlir/arithmetic.h"
#include "backend/mlir/shardings.h"
#include "ir/graph.h"

namespace tap::backend::mlir {
namespace {

using ir::GraphId;
using ir::Operation;
using ir::Operator;
using ir::ValueId;

class ProgramWriter {
 public:
  explicit ProgramWriter(const ir::Program& program) : program_(program), grids_(program) {}

  std::string write() {
    const ir::Graph& main = program_[program_.main];
    std::vector<std::string> inputs, parameters;
    for (ValueId v : main.inputs) {
      inputs.push_back(text_.fresh(main[v].name));
      parameters.push_back(inputs.back() + ": " + tensor_type(main[v].type));
    }
    text_.in();
    text_.in();
    const std::vector<std::string> outputs = graph(program_.main, inputs);
    text_.out();
    text_.out();
    const std::vector<std::string> types = types_of(main, main.outputs);
    std::string text = "module {\n";
    for (const std::string& line : grids_.declarations()) text += "  " + line + "\n";
    for (const auto& [signature, name] : kernels_)
      text += fmt::format("  func.func private {}{}\n", name, signature.second);
    text += fmt::format("  func.func {}({}) -> ({}) {{\n", symbol(main.name), joined(parameters), joined(types));
    text += text_.str();
    return text + fmt::format("    return {} : {}\n  }}\n}}\n", joined(outputs), joined(types));
  }

 private:
  static std::vector<std::string> types_of(const ir::Graph& graph, const std::vector<ValueId>& values) {
    std::vector<std::string> types;
    for (ValueId v : values) types.push_back(tensor_type(graph[v].type));
    return types;
  }

  // Emits the graph's operations in place. Returns its outputs.
  std::vector<std::string> graph(GraphId id, const std::vector<std::string>& inputs) {
    const ir::Graph& graph = program_[id];
    std::vector<std::string> values(graph.values.size());
    std::vector<int> writers(graph.values.size());
    for (const Operation& operation : graph.operations)
      for (ValueId v : operation.results) ++writers[v.index()];
    auto is_done = [&](ValueId v) {
      const ir::Value& value = graph[v];
      if (value.sharding) values[v.index()] = grids_.shard(text_, values[v.index()], value, *value.sharding, false);
    };
    for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
      values[graph.inputs[k].index()] = inputs[k];
      is_done(graph.inputs[k]);
    }
    for (const Operation& operation : graph.operations) {
      const std::vector<std::string> results = write(graph, operation, values);
      for (std::size_t k = 0; k < results.size(); ++k) {
        const ValueId v = operation.results[k];
        values[v.index()] = results[k];
        if (--writers[v.index()] == 0) is_done(v);
      }
    }
    std::vector<std::string> outputs;
    for (ValueId v : graph.outputs) outputs.push_back(values[v.index()]);
    return outputs;
  }

  std::vector<std::string> write(const ir::Graph& graph, const Operation& operation,
                                 const std::vector<std::string>& values) {
    const Operator& op = program_[operation.op];
    std::vector<std::string> operands, before, name;
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      const ValueId v = operation.operands[k];
      operands.push_back(values[v.index()]);
      if (k < operation.operand_shardings.size() && operation.operand_shardings[k])
        operands.back() = grids_.shard(text_, operands.back(), graph[v], *operation.operand_shardings[k], true);
    }
    for (ValueId v : operation.results) {
      before.push_back(values[v.index()]);
      name.push_back(graph[v].name);
    }
    text_.line("// " + on_one_line(joined(name)));
    const std::string called = name.empty() ? own_name(op, operation.names) : name.front();
    if (const ir::RegionBody* region = op.region()) return write_region(op, *region, operands, called);
    if (op.kernel()) return write_kernel(op, operands, called);
    if (op.transfer()) throw Refused{fmt::format("`{}` moves boxes between devices", called), split_help};
    return write_operation(text_, {program_, op, called, operands, before, counters_});
  }

  // For a choice, its original, as if no plan picked another; for a group, its graph, which computes the same.
  std::vector<std::string> write_region(const Operator& op, const ir::RegionBody& region,
                                        const std::vector<std::string>& operands, const std::string& name) {
    switch (region.kind) {
      case ir::RegionKind::iterate: return write_iterate(op, region, operands);
      case ir::RegionKind::group:
        if (!op.blockings.empty()) throw Refused{fmt::format("`{}` is split into blocks", name), split_help};
        [[fallthrough]];
      case ir::RegionKind::call:
      case ir::RegionKind::choice: return graph(region.graph, operands);
    }
    return {};
  }

  std::vector<std::string> write_iterate(const Operator& op, const ir::RegionBody& region,
                                         const std::vector<std::string>& operands) {
    const std::string from = index_constant(text_, region.trips.lo), to = index_constant(text_, region.trips.hi),
                      step = index_constant(text_, 1), counter = text_.fresh("t"), result = text_.fresh("loop");
    const std::size_t state = op.results.size();
    std::vector<std::string> inside = operands, starts, types, results;
    for (std::size_t k = 0; k < state; ++k) {
      inside[k] = text_.fresh("state");
      starts.push_back(inside[k] + " = " + operands[k]);
      types.push_back(tensor_type(op.results[k]));
      results.push_back(state == 1 ? result : fmt::format("{}#{}", result, k));
    }
    text_.line(fmt::format("{}{} = scf.for {} = {} to {} step {} iter_args({}) -> ({}) {{", result,
                           state == 1 ? "" : fmt::format(":{}", state), counter, from, to, step, joined(starts),
                           joined(types)));
    text_.in();
    counters_.push_back(counter);
    const std::vector<std::string> next = graph(region.graph, inside);
    counters_.pop_back();
    text_.line(fmt::format("scf.yield {} : {}", joined(next), joined(types)));
    text_.out();
    text_.line("}");
    return results;
  }

  // A function on whole tensors; the user must write it around the kernel.
  std::vector<std::string> write_kernel(const Operator& op, const std::vector<std::string>& operands,
                                        const std::string& name) {
    std::vector<std::string> from, to;
    for (const ir::TensorType& type : op.operands) from.push_back(tensor_type(type));
    for (const ir::TensorType& type : op.results) to.push_back(tensor_type(type));
    if (!op.blockings.empty()) throw Refused{fmt::format("`{}` is split into blocks", name), split_help};
    const std::string signature = fmt::format("({}) -> ({})", joined(from), joined(to));
    auto [found, added] = kernels_.try_emplace({op.kernel()->symbol, signature}, "");
    if (added) found->second = symbol(fmt::format("{}.on_tensors.{}", op.kernel()->symbol, kernels_.size()));
    const std::string result = text_.fresh("r");
    const bool one = op.results.size() == 1;
    text_.line(fmt::format("{}{} = func.call {}({}) : {}", result, one ? "" : fmt::format(":{}", op.results.size()),
                           found->second, joined(operands), signature));
    std::vector<std::string> results;
    for (std::size_t k = 0; k < op.results.size(); ++k)
      results.push_back(one ? result : fmt::format("{}#{}", result, k));
    return results;
  }

  static constexpr const char* split_help = "write the MLIR of the program before a plan splits it";
  const ir::Program& program_;
  Grids grids_;
  Text text_;
  std::vector<std::string> counters_;
  std::map<std::pair<std::string, std::string>, std::string> kernels_;  // by symbol and signature, the function's name
};

}  // namespace

std::string write_program(const ir::Program& program) { return ProgramWriter(program).write(); }

}  // namespace tap::backend::mlir
