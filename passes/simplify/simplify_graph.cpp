#include "passes/simplify/simplify_graph.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "passes/placed.h"
#include "passes/rebuild.h"
#include "passes/simplify/reduce_once.h"

namespace tap::passes {

using namespace ir;

namespace {

// y[e] = x[e], of the same shape: every cell of y is written, so y equals x.
bool copies_every_cell(const Operator& op) {
  const MapBody* map = op.map();
  if (!map || op.operands.size() != 1 || op.reads.size() != 1 || op.writes.size() != 1) return false;
  const Access &read = op.reads[0], &write = op.writes[0];
  bool by_data =
      std::any_of(read.coordinates.begin(), read.coordinates.end(), [](const auto& c) { return c.has_value(); });
  return op.operands == op.results && op.exprs[map->values[0]].op == CellOp::read && !by_data &&
         read.projection == write.projection;
}

void drop_reduced_names(OperationNames& names, const Operator& op) {
  std::vector<std::string> kept;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role != DimRole::reduction) kept.push_back(std::move(names.dims[d]));
  names.dims = std::move(kept);
}

class GraphSimplifier {
 public:
  GraphSimplifier(Program& program, GraphId id)
      : program_(program),
        graph_(program[id]),
        to_(program, id),
        uses_(def_use(graph_)),
        bound_(bound_to_transfers(program, graph_)),
        noted_(annotated_values(graph_)),
        boundary_(graph_.values.size(), false) {
    for (const auto* list : {&graph_.inputs, &graph_.outputs})
      for (ValueId v : *list) boundary_[v.index()] = true;
  }

  // By the name of a dim, which must then stay.
  bool has_split_request(OperationId id) const {
    return std::any_of(graph_.splits.begin(), graph_.splits.end(),
                       [id](const SplitRequest& split) { return split.operation == id && !split.value; });
  }

  Rebuilt run(std::vector<Operator>& added) {
    for (std::size_t i = 0; i < graph_.operations.size(); ++i) {
      OperationId id{i};
      const Operation& operation = graph_[id];
      const Operator& op = program_[operation.op];
      if (copies_every_cell(op) && forward(id)) continue;
      auto map = has_split_request(id) || bound_[i] || !operation.placements.empty() ? std::nullopt
                                                                                     : reduced_once(program_, op);
      if (map) {
        Operation changed = operation;
        if (map->operands.empty()) changed.operands.clear(), changed.operand_shardings.clear();
        if (changed.names) drop_reduced_names(*changed.names, op);
        changed.op = OperatorId{program_.operators.size() + added.size()};
        added.push_back(std::move(*map));
        to_.add(std::move(changed), PointOf{{{}, id}}, id);
      } else {
        to_.copy(id);
      }
    }
    return to_.finish();
  }

 private:
  // y = x → replaces y by x; a result keeps its name.
  bool forward(OperationId id) {
    const Operation& operation = graph_[id];
    ValueId x = to_.now(operation.operands[0]), y = operation.results[0];
    bool annotated = noted_[y.index()] || noted_[x.index()] || !operation.operand_shardings.empty() ||
                     !operation.placements.empty() || bound_[id.index()];
    if (annotated || uses_.writers[y.index()].size() != 1 || (boundary_[y.index()] && boundary_[x.index()]))
      return false;
    to_.forward(y, x);
    to_.claim_copy(id);
    if (boundary_[y.index()]) {
      to_.rename(x, graph_[y].name);
      boundary_[x.index()] = true;
    }
    return true;
  }

  Program& program_;
  const Graph& graph_;
  Rebuild to_;
  DefUse uses_;
  std::vector<bool> bound_;             // by operation
  std::vector<bool> noted_, boundary_;  // by value
};

}  // namespace

PassResult simplify_graph(const Program& program, const PassContext&) {
  return rewrite_graphs(program, [](Program& all, GraphId id, std::vector<Remark>&) {
    std::vector<Operator> added;
    Rebuilt made = GraphSimplifier(all, id).run(added);
    for (Operator& op : added) all.operators.push_back(std::move(op));
    return made;
  });
}

}  // namespace tap::passes
