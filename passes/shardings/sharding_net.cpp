#include "passes/shardings/sharding_net.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/operation_names.h"

namespace tap::passes {
namespace {

using ir::GraphId;
using ir::OperationId;
using ir::ValueId;

// Copies tensors of that shape, cell for cell, between this many operands and results.
Factors identity_factors(const Shape& shape, std::size_t operands, std::size_t results) {
  Factors all;
  TensorFactors tensor;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    all.factors.push_back({"i" + std::to_string(a), shape[a], FactorKind::pass_through, {}});
    tensor.axes.push_back({{static_cast<std::uint32_t>(a)}});
  }
  all.operands.assign(operands, tensor);
  all.results.assign(results, tensor);
  return all;
}

// All tensors except broadcast ones and scalars have the same axes.
bool is_elementwise(const Site& site) {
  if (!site.moves_no_data || site.factors.results.empty()) return false;
  const auto& axes = site.factors.results[0].axes;
  for (std::size_t k = 0; k < site.operands.size(); ++k) {
    const auto& own = site.factors.operands[k].axes;
    if (own.empty() || site.broadcast[k]) continue;
    if (own.size() != axes.size()) return false;
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (own[a].factors != axes[a].factors) return false;
  }
  return true;
}

class NetBuilder {
 public:
  explicit NetBuilder(const ir::Program& program) : program_(program), table_(program) {
    net_.first_.assign(program.graphs.size(), ~0u);
  }

  ShardingNet build() {
    for (const auto& [graph, path] : ir::graph_paths(program_)) add_nodes(graph);
    for (const auto& [graph, path] : ir::graph_paths(program_)) add_knots(graph);
    for (std::uint32_t k = 0; k < net_.hyperedges.size(); ++k) {
      for (NodeId n : net_.hyperedges[k].results) net_.nodes[n].writers.push_back(k);
      for (NodeId n : net_.hyperedges[k].operands) net_.nodes[n].readers.push_back(k);
    }
    for (const auto& [graph, path] : ir::graph_paths(program_)) {
      add_barriers(graph);
      add_groups(graph);
    }
    return std::move(net_);
  }

 private:
  void add_nodes(GraphId g) {
    const ir::Graph& graph = program_[g];
    net_.first_[g.index()] = static_cast<NodeId>(net_.nodes.size());
    for (std::uint32_t v = 0; v < graph.values.size(); ++v)
      net_.nodes.push_back({g, ValueId(v), {}, 0, graph.values[v].sharding});
  }

  // How often each value is used: read, or as an output.
  static std::vector<int> uses_of(const ir::Graph& graph) {
    std::vector<int> uses(graph.values.size());
    for (const ir::Operation& operation : graph.operations)
      for (ValueId v : operation.operands) ++uses[v.index()];
    for (ValueId v : graph.outputs) ++uses[v.index()];
    return uses;
  }

  void add_knots(GraphId g) {
    const ir::Graph& graph = program_[g];
    std::vector<int> uses = uses_of(graph);
    std::vector<Site> sites = sites_of(program_, graph, table_);
    auto next = sites.begin();
    for (std::uint32_t o = 0; o < graph.operations.size(); ++o) {
      const ir::Operation& operation = graph.operations[o];
      if (program_[operation.op].region()) add_region(g, OperationId(o), uses);
      else if (next != sites.end() && next->operations.front() == OperationId(o)) add_site(g, std::move(*next++), uses);
    }
  }

  void add_site(GraphId g, Site site, const std::vector<int>& uses) {
    const ir::Graph& graph = program_[g];
    Hyperedge hyperedge;
    hyperedge.graph = g;
    hyperedge.operation = site.operations.front();
    hyperedge.operations = site.operations;
    hyperedge.broadcast = site.broadcast;
    hyperedge.moves_no_data = site.moves_no_data;
    hyperedge.elementwise = is_elementwise(site);
    for (std::size_t k = 0; k < site.operands.size(); ++k) {
      hyperedge.operands.push_back(node_of_use(g, site.uses[k].first, site.uses[k].second, uses));
      bool scalar = graph[site.operands[k]].type.shape.empty();
      hyperedge.reused_operand = hyperedge.reused_operand || (!scalar && uses[site.operands[k].index()] > 1);
    }
    for (ValueId v : site.results) hyperedge.results.push_back(net_.node_of(g, v));
    bool copy = site.operations.size() == 1 && is_identity(program_[graph[site.operations[0]].op]);
    if (copy && g == program_.main && uses[site.results[0].index()] == 1)
      hyperedge.program_result = std::find(graph.outputs.begin(), graph.outputs.end(), site.results[0]) !=
                                 graph.outputs.end();
    hyperedge.factors = keep(std::move(site.factors));
    net_.hyperedges.push_back(std::move(hyperedge));
  }

  const Factors* keep(Factors factors) {
    net_.factors.push_back(std::make_unique<Factors>(std::move(factors)));
    return net_.factors.back().get();
  }

  // The value, or, if this use has its own sharding, a node for the use, which copies the value.
  NodeId node_of_use(GraphId g, OperationId o, std::uint32_t operand, const std::vector<int>& uses) {
    const ir::Operation& operation = program_[g][o];
    ValueId value = operation.operands[operand];
    NodeId of_value = net_.node_of(g, value);
    if (operand >= operation.operand_shardings.size() || !operation.operand_shardings[operand]) return of_value;
    auto [at, fresh] = use_nodes_.try_emplace({g, o, operand}, static_cast<NodeId>(net_.nodes.size()));
    if (!fresh) return at->second;
    net_.nodes.push_back({g, value, o, operand, operation.operand_shardings[operand]});
    Hyperedge hyperedge = edge(g, program_[g][value].type.shape, {of_value}, {at->second});
    hyperedge.elementwise = true;
    hyperedge.reused_operand = uses[value.index()] > 1;
    net_.hyperedges.push_back(std::move(hyperedge));
    return at->second;
  }

  Hyperedge edge(GraphId g, const Shape& shape, std::vector<NodeId> operands, std::vector<NodeId> results) {
    Hyperedge hyperedge;
    hyperedge.graph = g;
    hyperedge.factors = keep(identity_factors(shape, operands.size(), results.size()));
    hyperedge.broadcast.assign(operands.size(), false);
    hyperedge.moves_no_data = true;
    hyperedge.operands = std::move(operands);
    hyperedge.results = std::move(results);
    return hyperedge;
  }

  void add_region(GraphId g, OperationId o, const std::vector<int>& uses) {
    const ir::Operation& operation = program_[g][o];
    const ir::RegionBody& region = *program_[operation.op].region();
    std::vector<NodeId> given;
    for (std::uint32_t k = 0; k < operation.operands.size(); ++k) given.push_back(node_of_use(g, o, k, uses));
    auto shape = [&](ValueId v) -> const Shape& { return program_[g][v].type.shape; };
    std::vector<GraphId> bodies{region.graph};
    for (const ir::Alternative& other : region.alternatives) bodies.push_back(other.graph);
    for (GraphId inner : bodies) {
      const ir::Graph& body = program_[inner];
      std::size_t states = region.kind == ir::RegionKind::iterate ? operation.results.size() : 0;
      for (std::size_t k = 0; k < operation.operands.size(); ++k) {
        std::vector<NodeId> from{given[k]}, to{net_.node_of(inner, body.inputs[k])};
        if (k < states) {
          from.push_back(net_.node_of(inner, body.outputs[k]));
          to.push_back(net_.node_of(g, operation.results[k]));
        }
        net_.hyperedges.push_back(edge(g, shape(operation.operands[k]), std::move(from), std::move(to)));
      }
      for (std::size_t k = states; k < operation.results.size(); ++k)
        net_.hyperedges.push_back(edge(g, shape(operation.results[k]), {net_.node_of(inner, body.outputs[k])},
                                       {net_.node_of(g, operation.results[k])}));
    }
  }

  // A barrier applies to the write of a computed value, and to the reads of an input.
  void add_barriers(GraphId g) {
    for (const ir::Barrier& barrier : program_[g].barriers) {
      const Node& node = net_.nodes[net_.node_of(g, barrier.value)];
      for (std::uint32_t k : node.writers.empty() ? node.readers : node.writers) {
        if (barrier.kind != ir::BarrierKind::backward) net_.hyperedges[k].no_forward = true;
        if (barrier.kind != ir::BarrierKind::forward) net_.hyperedges[k].no_backward = true;
      }
    }
  }

  // Merges groups with a common value.
  void add_groups(GraphId g) {
    for (const ir::ShardingGroup& group : program_[g].groups) {
      std::uint32_t to = static_cast<std::uint32_t>(net_.groups.size());
      for (ValueId v : group.values) to = std::min(to, net_.nodes[net_.node_of(g, v)].group);
      if (to == net_.groups.size()) net_.groups.emplace_back();
      auto join = [&](NodeId n) {
        if (net_.nodes[n].group == to) return;
        net_.nodes[n].group = to;
        net_.groups[to].push_back(n);
      };
      for (ValueId v : group.values) {
        std::uint32_t old = net_.nodes[net_.node_of(g, v)].group;
        if (old != ~0u && old != to)
          for (NodeId n : std::exchange(net_.groups[old], {})) join(n);
        join(net_.node_of(g, v));
      }
    }
  }

  const ir::Program& program_;
  FactorTable table_;
  ShardingNet net_;
  std::map<std::tuple<GraphId, OperationId, std::uint32_t>, NodeId> use_nodes_;
};

}  // namespace

ShardingNet net_of(const ir::Program& program) { return NetBuilder(program).build(); }

NodeId copy_for_readers(ShardingNet& net, const ir::Program& program, NodeId of) {
  auto copy = static_cast<NodeId>(net.nodes.size());
  auto edge = static_cast<std::uint32_t>(net.hyperedges.size());
  Node node{net.nodes[of].graph, net.nodes[of].value};
  node.synthetic = true;
  node.readers = std::exchange(net.nodes[of].readers, {edge});
  node.writers = {edge};
  for (std::uint32_t k : node.readers)
    std::replace(net.hyperedges[k].operands.begin(), net.hyperedges[k].operands.end(), of, copy);
  net.factors.push_back(std::make_unique<Factors>(identity_factors(program[node.graph][node.value].type.shape, 1, 1)));
  Hyperedge hyperedge{{of}, {copy}, net.factors.back().get(), {false}};
  hyperedge.moves_no_data = hyperedge.elementwise = true;
  hyperedge.graph = node.graph;
  net.hyperedges.push_back(std::move(hyperedge));
  net.nodes.push_back(std::move(node));
  return copy;
}

}  // namespace tap::passes
