#include "cost/decide/part.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"

namespace tap::cost {

using namespace ir;

namespace {

// Copies operators and values into a separate program, each once.
class PartMaker {
 public:
  PartMaker(const Program& program, const Graph& graph) : program_(program), graph_(graph) {
    made_.monoids = program.monoids;
    made_.meshes = program.meshes;
    made_.main = GraphId(0);
  }

  void add(const Operation& operation) {
    Operation own{operator_of(operation.op), {}, {}, {}};
    for (ValueId v : operation.operands) own.operands.push_back(value_of(v));
    for (ValueId v : operation.results) own.results.push_back(value_of(v));
    main_.operations.push_back(std::move(own));
  }

  Program finish(const std::set<ValueId>& written, const std::set<ValueId>& escaping) {
    for (const auto& [outer, inner] : values_) {
      if (!written.count(outer)) main_.inputs.push_back(inner);
      if (escaping.count(outer)) main_.outputs.push_back(inner);
    }
    std::sort(main_.inputs.begin(), main_.inputs.end());
    std::sort(main_.outputs.begin(), main_.outputs.end());
    made_.graphs.push_back(std::move(main_));
    return std::move(made_);
  }

 private:
  OperatorId operator_of(OperatorId outer) {
    auto [it, fresh] = operators_.emplace(outer, OperatorId(made_.operators.size()));
    if (!fresh) return it->second;
    made_.operators.push_back(program_[outer]);
    Operator& op = made_.operators.back();
    op.name = "o";
    op.operand_names.clear();
    op.result_names.clear();
    return it->second;
  }

  ValueId value_of(ValueId outer) {
    auto [it, fresh] = values_.emplace(outer, ValueId(main_.values.size()));
    if (!fresh) return it->second;
    const Value& value = graph_[outer];
    main_.values.push_back({"v" + std::to_string(main_.values.size()), value.type, value.is_const, std::nullopt});
    return it->second;
  }

  const Program& program_;
  const Graph& graph_;
  Program made_;
  Graph main_;
  std::map<OperatorId, OperatorId> operators_;
  std::map<ValueId, ValueId> values_;
};

}  // namespace

Program part_of(const Program& program, const Graph& graph, const DefUse& uses,
                const std::vector<OperationId>& operations) {
  PartMaker maker(program, graph);
  std::set<ValueId> written, escaping;
  for (OperationId o : operations) {
    maker.add(graph[o]);
    written.insert(graph[o].results.begin(), graph[o].results.end());
  }
  auto inside = [&](OperationId o) { return std::binary_search(operations.begin(), operations.end(), o); };
  for (ValueId v : written) {
    const std::vector<OperationId>& readers = uses.readers[v.index()];
    const bool is_output = graph[v].sharding ||
                           std::find(graph.outputs.begin(), graph.outputs.end(), v) != graph.outputs.end();
    if (is_output || !std::all_of(readers.begin(), readers.end(), inside)) escaping.insert(v);
  }
  // A value without readers is still computed if its writer has no other result.
  for (OperationId o : operations) {
    const std::vector<ValueId>& results = graph[o].results;
    const bool unread = std::all_of(results.begin(), results.end(),
                                    [&](ValueId v) { return uses.readers[v.index()].empty() && !escaping.count(v); });
    if (unread) escaping.insert(results.begin(), results.end());
  }
  return maker.finish(written, escaping);
}

bool is_standalone(const Program& program, const Operation& operation) {
  const Operator& op = program[operation.op];
  return !op.region() && operation.placements.empty() && operation.operand_shardings.empty() && op.blockings.empty() &&
         !std::holds_alternative<TransferBody>(op.body) && !std::holds_alternative<KernelBody>(op.body) &&
         std::none_of(op.dims.begin(), op.dims.end(), [](const IndexDim& dim) { return dim.role == DimRole::counter; });
}

}  // namespace tap::cost
