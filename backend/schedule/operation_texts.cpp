#include "backend/schedule/operation_texts.h"

#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

Path inside(Path path, OperationId operation) {
  path.push_back(operation);
  return path;
}

}  // namespace

std::size_t OperationTexts::of(std::size_t path_number, const Path& path, GraphId graph, OperationId id) {
  auto [it, fresh] = known_.try_emplace({path_number, id}, texts_.size());
  if (!fresh) return it->second;
  add(program_[graph], {path, id});
  const RegionBody* inner = program_[program_[graph][id].op].region();
  if (inner && inner->kind == RegionKind::group) add_inside(inside(path, id), inner->graph);
  return it->second;
}

void OperationTexts::add(const Graph& graph, OperationRef what) {
  const Operation& operation = graph[what.operation];
  const Operator& op = program_[operation.op];
  ScheduledOperation text;
  text.name = own_name(op, operation.names);
  if (!operation.results.empty()) text.result = graph[operation.results[0]].name;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    text.dims.push_back({own_dim_name(op, operation.names, d), is_block_dim(op, d)});
  for (ValueId v : operation.operands) text.operands.emplace_back(graph[v].name, graph[v].type.shape);
  text.what = std::move(what);
  texts_.push_back(std::move(text));
}

void OperationTexts::add_inside(const Path& group, GraphId graph) {
  for (std::size_t o = 0; o < program_[graph].operations.size(); ++o) {
    add(program_[graph], {group, OperationId(o)});
    const RegionBody* inner = program_[program_[graph].operations[o].op].region();
    if (inner) add_inside(inside(group, OperationId(o)), inner->graph);
  }
}

}  // namespace tap::backend
