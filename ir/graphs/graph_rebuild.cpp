#include "ir/graphs/graph_rebuild.h"

#include "ir/graph.h"
#include "support/check.h"

namespace tap::ir {
namespace {

class Rebuild {
 public:
  Rebuild(const Graph& from, const Selection& selection) : from_(from), selection_(selection) {}

  Graph run() {
    to_.name = from_.name;
    copy_values();
    copy_operations();
    for (ValueId v : from_.inputs) to_.inputs.push_back(kept(v));
    for (ValueId v : from_.outputs) to_.outputs.push_back(kept(v));
    copy_annotations();
    return std::move(to_);
  }

 private:
  void copy_values() {
    new_value_.resize(from_.values.size());
    for (std::size_t v = 0; v < from_.values.size(); ++v) {
      if (!selection_.values[v]) continue;
      new_value_[v] = ValueId(to_.values.size());
      to_.values.push_back(from_.values[v]);
    }
  }

  void copy_operations() {
    new_operation_.resize(from_.operations.size());
    for (std::size_t i = 0; i < from_.operations.size(); ++i) {
      if (!selection_.operations[i]) continue;
      new_operation_[i] = OperationId(to_.operations.size());
      Operation& operation = to_.operations.emplace_back(from_.operations[i]);
      for (ValueId& v : operation.operands) v = kept(v);
      for (ValueId& v : operation.results) v = kept(v);
    }
  }

  void copy_annotations() {
    for (const ShardingGroup& group : from_.groups) {
      ShardingGroup left;
      for (ValueId v : group.values)
        if (now(v).valid()) left.values.push_back(now(v));
      if (!left.values.empty()) to_.groups.push_back(std::move(left));
    }
    for (const Barrier& barrier : from_.barriers)
      if (now(barrier.value).valid()) to_.barriers.push_back({now(barrier.value), barrier.kind});
    for (const SplitRequest& split : from_.splits) {
      OperationId operation = new_operation_[split.operation.index()];
      if (!operation.valid()) continue;
      to_.splits.push_back(split);
      to_.splits.back().operation = operation;
      if (split.value) to_.splits.back().value = now(*split.value);
    }
  }

  ValueId now(ValueId old) const { return new_value_[selection_.replacement[old.index()].index()]; }
  ValueId kept(ValueId old) const {
    TAP_CHECK(now(old).valid(), "a graph rebuilt without a value that it needs");
    return now(old);
  }

  const Graph& from_;
  const Selection& selection_;
  Graph to_;
  std::vector<ValueId> new_value_;
  std::vector<OperationId> new_operation_;
};

}  // namespace

Selection::Selection(const Graph& graph, bool keep)
    : operations(graph.operations.size(), keep), values(graph.values.size(), keep) {
  for (std::size_t v = 0; v < graph.values.size(); ++v) replacement.push_back(ValueId(v));
}

Graph rebuild(const Graph& graph, const Selection& selection) { return Rebuild(graph, selection).run(); }

}  // namespace tap::ir
