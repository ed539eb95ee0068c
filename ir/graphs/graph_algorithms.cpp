// A graph's operations and values as the vertices of one Boost graph: writer → value → reader. With values as
// vertices, a value with many writers and readers has the sum of their edges and not the product.
#include "ir/graphs/graph_algorithms.h"

#include <algorithm>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/topological_sort.hpp>

#include "support/check.h"

namespace tap::ir {
namespace {

using Flow = boost::compressed_sparse_row_graph<boost::bidirectionalS>;
using Vertex = boost::graph_traits<Flow>::vertex_descriptor;
using Edge = boost::graph_traits<Flow>::edge_descriptor;

// Vertices are the operations, from the last to the first, and then the values. A depth-first search starts at vertex 0 and
// its reverse finish times are the topological order: so an order that was right already stays as it is.
class FlowGraph {
 public:
  explicit FlowGraph(const Graph& graph) : operations_(graph.operations.size()), values_(graph.values.size()) {
    std::vector<std::pair<Vertex, Vertex>> edges;
    for (std::size_t i = 0; i < operations_; ++i) {
      Vertex at = vertex(OperationId(i));
      for (ValueId v : graph.operations[i].operands) edges.emplace_back(vertex(v), at);
      for (ValueId v : graph.operations[i].results) edges.emplace_back(at, vertex(v));
    }
    boost_ = Flow(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), operations_ + values_);
  }

  Vertex vertex(OperationId id) const { return operations_ - 1 - id.index(); }
  Vertex vertex(ValueId id) const { return operations_ + id.index(); }
  bool is_operation(Vertex v) const { return v < operations_; }
  OperationId operation(Vertex v) const { return OperationId(operations_ - 1 - v); }
  const Flow& boost() const { return boost_; }
  std::size_t size() const { return operations_ + values_; }

  // All vertices in topological order; empty if there is a cycle.
  std::optional<std::vector<Vertex>> order() const {
    std::vector<Vertex> reversed;
    reversed.reserve(size());
    try {
      boost::topological_sort(boost_, std::back_inserter(reversed));
    } catch (const boost::not_a_dag&) { return std::nullopt; }
    return std::vector<Vertex>(reversed.rbegin(), reversed.rend());
  }

 private:
  std::size_t operations_;
  std::size_t values_;
  Flow boost_;
};

struct CycleFound {
  Vertex first, last;
};
// Remembers how each vertex was reached, and stops at the first edge that leads back to an unfinished vertex.
struct FindBackEdge : boost::default_dfs_visitor {
  std::vector<Vertex>* reached_from;
  void tree_edge(Edge e, const Flow& g) { (*reached_from)[target(e, g)] = source(e, g); }
  void back_edge(Edge e, const Flow& g) { throw CycleFound{target(e, g), source(e, g)}; }
};

// The dominator tree of an acyclic graph, grown in topological order: a vertex hangs below the nearest common ancestor of
// its predecessors. Jumps of doubling length find it in logarithmic time. (Boost's Lengauer-Tarjan recurses as deep as the
// graph is long and would overflow the stack on a long chain with a bypass.)
class DominatorTree {
 public:
  explicit DominatorTree(std::size_t vertices)
      : parent_(vertices + 1, vertices), jump_(vertices + 1, vertices), depth_(vertices + 1, 0) {}

  std::size_t root() const { return parent_.size() - 1; }
  std::size_t parent(std::size_t v) const { return parent_[v]; }

  // Skew-binary jump pointers: two links a vertex serve every distance.
  void hang(std::size_t v, std::size_t below) {
    parent_[v] = below;
    depth_[v] = depth_[below] + 1;
    std::size_t far = jump_[below];
    bool equal_jumps = depth_[below] - depth_[far] == depth_[far] - depth_[jump_[far]];
    jump_[v] = equal_jumps ? jump_[far] : below;
  }

  std::size_t common_ancestor(std::size_t a, std::size_t b) const {
    if (depth_[a] < depth_[b]) std::swap(a, b);
    while (depth_[a] > depth_[b]) a = depth_[jump_[a]] >= depth_[b] ? jump_[a] : parent_[a];
    while (a != b) {
      bool jump = jump_[a] != jump_[b];
      a = jump ? jump_[a] : parent_[a];
      b = jump ? jump_[b] : parent_[b];
    }
    return a;
  }

 private:
  std::vector<std::size_t> parent_, jump_, depth_;
};

}  // namespace

DefUse def_use(const Graph& graph) {
  DefUse result;
  result.writers.resize(graph.values.size());
  result.readers.resize(graph.values.size());
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    OperationId id(i);
    auto note = [id](std::vector<OperationId>& list) {
      if (list.empty() || list.back() != id) list.push_back(id);
    };
    for (ValueId v : graph.operations[i].results) note(result.writers[v.index()]);
    for (ValueId v : graph.operations[i].operands) note(result.readers[v.index()]);
  }
  return result;
}

std::optional<std::vector<OperationId>> topological_order(const Graph& graph) {
  FlowGraph flow(graph);
  auto order = flow.order();
  if (!order) return std::nullopt;
  std::vector<OperationId> result;
  result.reserve(graph.operations.size());
  for (Vertex v : *order)
    if (flow.is_operation(v)) result.push_back(flow.operation(v));
  return result;
}

std::vector<OperationId> find_cycle(const Graph& graph) {
  FlowGraph flow(graph);
  std::vector<Vertex> reached_from(flow.size(), 0);
  FindBackEdge visitor;
  visitor.reached_from = &reached_from;
  try {
    boost::depth_first_search(flow.boost(), boost::visitor(visitor));
  } catch (const CycleFound& cycle) {
    std::vector<OperationId> result;
    for (Vertex v = cycle.last;; v = reached_from[v]) {
      if (flow.is_operation(v)) result.push_back(flow.operation(v));
      if (v == cycle.first) break;
    }
    std::reverse(result.begin(), result.end());
    std::rotate(result.begin(), std::min_element(result.begin(), result.end()), result.end());
    return result;
  }
  return {};
}

std::vector<OperationId> dominators(const Graph& graph) {
  FlowGraph flow(graph);
  auto order = flow.order();
  TAP_CHECK(order, "dominators of a graph with a cycle");
  DominatorTree tree(flow.size());
  std::vector<OperationId> result(graph.operations.size());
  for (Vertex v : *order) {
    std::optional<std::size_t> above;
    for (auto [e, end] = in_edges(v, flow.boost()); e != end; ++e) {
      Vertex from = source(*e, flow.boost());
      above = above ? tree.common_ancestor(*above, from) : from;
    }
    tree.hang(v, above.value_or(tree.root()));  // what nothing comes before hangs below the entry
    if (!flow.is_operation(v)) continue;
    std::size_t up = tree.parent(v);
    while (up != tree.root() && !flow.is_operation(up)) up = tree.parent(up);
    if (up != tree.root()) result[flow.operation(v).index()] = flow.operation(up);
  }
  return result;
}

}  // namespace tap::ir
