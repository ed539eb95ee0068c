// Rewrites a graph together with its claims, one line per operation. Values keep the names of the input graph; values
// that are not used at the end are removed, and the others are renumbered in their old order.
//
//   Rebuild to(program, graph_id);
//   to.copy(a);                                    // a stays: Copied
//   ValueId p = to.add_value({"p", type});         // a new value
//   to.add({op, {x}, {p}, {}}, PartialOf{{{}, b}, 1, 2}, b);
//   to.forward(y, x);                              // readers of y read x instead
//   Rebuilt done = to.finish();                    // done.graph, done.claim
#pragma once

#include <functional>

#include "ir/graphs/graph_rebuild.h"
#include "passes/pass.h"

namespace tap::passes {

struct Rebuilt {
  ir::Graph graph;
  ir::GraphClaim claim;
};

class Rebuild {
 public:
  // Starts with the graph's inputs, outputs and annotations, and without operations.
  Rebuild(const ir::Program& before, ir::GraphId graph);

  const ir::Graph& graph() const { return from_; }

  // Operations are added in order.
  void copy(ir::OperationId operation);
  // `replaced`: the operation whose splits now apply to this one.
  void add(ir::Operation operation, ir::Justification why, std::optional<ir::OperationId> replaced = {});

  ir::ValueId add_value(ir::Value value);
  void rename(ir::ValueId value, std::string name) { values_[value.index()].name = std::move(name); }
  // Every use of `removed`, present or future, becomes `kept`. No operation may write `removed` any more.
  void forward(ir::ValueId removed, ir::ValueId kept);
  // The value that `value` was forwarded to.
  ir::ValueId now(ir::ValueId value) const;
  // That operation copies its operand: `forward` its result.
  void claim_copy(ir::OperationId operation) { copies_.push_back({{}, operation}); }

  // Copies the annotations of another graph's values and the splits of its operations to this graph: `place` maps its
  // values, and its operations are the last ones that were added.
  void annotate_like(const ir::Graph& other, const std::vector<ir::ValueId>& mapping);

  Rebuilt finish();

 private:
  void copy_annotations(ir::Graph& to, const std::vector<bool>& mentioned) const;

  const ir::Graph& from_;
  ir::GraphId id_;
  std::vector<ir::Value> values_;      // the old ones, then those that were added
  std::vector<ir::ValueId> forwards_;  // by value: itself, or its replacement
  std::vector<ir::Operation> operations_;
  std::vector<ir::Justification> why_;
  std::vector<ir::OperationRef> copies_;
  std::vector<std::pair<ir::OperationId, ir::OperationId>> became_;  // old, new
  std::vector<ir::ShardingGroup> groups_;                            // added, not the graph's own
  std::vector<ir::Barrier> barriers_;
  std::vector<ir::SplitRequest> splits_;
};

// The claim for a graph of which only a part stays (ir/graphs/graph_rebuild.h): every operation is copied.
ir::GraphClaim claim_of_part(ir::GraphId graph, const ir::Selection& selection);

// By graph: whether it is the body of a group, whose operation numbers the group's anchors refer to.
std::vector<bool> bodies_of_groups(const ir::Program& program);

// Rewrites one graph after another, except the bodies of groups. Operators may be added to `program`, whose graphs do
// not change meanwhile; at the end, everything that main does not reach is removed.
using RewriteGraph = std::function<Rebuilt(ir::Program& program, ir::GraphId graph, std::vector<Remark>& remarks)>;
PassResult rewrite_graphs(const ir::Program& program, const RewriteGraph& rewrite);

// Removes the graphs and operators that main does not reach; the others keep their order. Returns the new id of each
// graph, or an invalid one.
std::vector<ir::GraphId> remove_unreachable(ir::Program& program);

// By value: whether it has an annotation (a sharding, a barrier), or its writer has a split. It must stay.
std::vector<bool> annotated_values(const ir::Graph& graph);

// The operation's name in messages: the first value that it writes.
std::string name_of(const ir::Graph& graph, ir::OperationId operation);

}  // namespace tap::passes
