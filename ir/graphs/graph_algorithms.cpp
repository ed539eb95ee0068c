// A graph's operations and values as the vertices of one Boost graph: writer → value → reader. With values as
// vertices, a value with many writers and readers has the sum of their edges and not the product.
#include "ir/graphs/graph_algorithms.h"

#include <iterator>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/topological_sort.hpp>

#include "ir/graph.h"

namespace tap::ir {
namespace {

using Flow = boost::compressed_sparse_row_graph<boost::bidirectionalS>;
using Vertex = boost::graph_traits<Flow>::vertex_descriptor;

// Vertices are the operations, from the last to the first, and then the values. A depth-first search starts at vertex
// 0, and its reverse finish times are the topological order; so an order that is already valid stays.
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

}  // namespace tap::ir
