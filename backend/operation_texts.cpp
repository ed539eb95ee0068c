#include "backend/operation_texts.h"

namespace tap::backend {

using namespace ir;

std::size_t OperationTexts::of(GraphId graph, OperationId id) {
  auto [it, fresh] = known_.try_emplace({graph, id}, texts_.size());
  if (!fresh) return it->second;
  const Operation& operation = program_[graph][id];
  add(program_[graph], operation);
  if (const RegionBody* inner = program_[operation.op].region()) add_inside(inner->graph);
  return it->second;
}

void OperationTexts::add(const Graph& graph, const Operation& operation) {
  const Operator& op = program_[operation.op];
  OperationText text;
  text.name = own_name(op, operation.names);
  if (!operation.results.empty()) text.result = graph[operation.results[0]].name;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    text.dims.push_back({own_dim_name(op, operation.names, d), is_block_dim(op, d)});
  for (ValueId v : operation.operands) text.operands.emplace_back(graph[v].name, graph[v].type.shape);
  texts_.push_back(std::move(text));
}

void OperationTexts::add_inside(GraphId group) {
  for (const Operation& operation : program_[group].operations) {
    add(program_[group], operation);
    if (const RegionBody* inner = program_[operation.op].region()) add_inside(inner->graph);
  }
}

}  // namespace tap::backend
