#include "passes/shardings/prepare_shardings.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/graph.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"

namespace tap::passes {
namespace {

using ir::OperationId;
using ir::Sharding;
using ir::ValueId;

// Values that one operation computes without operands, and without annotations except perhaps a sharding.
std::vector<bool> constants_of(const ir::Program& program, const ir::Graph& graph) {
  std::vector<int> writers(graph.values.size());
  std::vector<bool> constant(graph.values.size());
  for (const ir::Operation& operation : graph.operations)
    for (ValueId v : operation.results) {
      ++writers[v.index()];
      constant[v.index()] = operation.operands.empty() && operation.results.size() == 1 && program[operation.op].map();
    }
  for (std::size_t v = 0; v < constant.size(); ++v) constant[v] = constant[v] && writers[v] == 1;
  for (ValueId v : graph.outputs) constant[v.index()] = false;
  for (const ir::ShardingGroup& group : graph.groups)
    for (ValueId v : group.values) constant[v.index()] = false;
  for (const ir::Barrier& barrier : graph.barriers) constant[barrier.value.index()] = false;
  for (const ir::SplitRequest& split : graph.splits)
    for (ValueId v : graph[split.operation].results) constant[v.index()] = false;
  return constant;
}

ir::Graph with_own_constants(const ir::Program& program, const ir::Graph& graph) {
  std::vector<bool> constant = constants_of(program, graph), used(graph.values.size());
  if (std::find(constant.begin(), constant.end(), true) == constant.end()) return graph;
  ir::Graph out = graph;
  out.operations.clear();
  std::vector<const ir::Operation*> writer(graph.values.size());
  std::vector<OperationId> now;
  for (const ir::Operation& operation : graph.operations) {
    for (ValueId v : operation.results) writer[v.index()] = &operation;
    ir::Operation copy = operation;
    for (ValueId& v : copy.operands) {
      bool first = !used[v.index()];
      used[v.index()] = true;
      if (!constant[v.index()] || first) continue;
      ir::Operation again = *writer[v.index()];
      ValueId own(static_cast<std::uint32_t>(out.values.size()));
      out.values.push_back(graph[v]);
      again.results = {own};
      out.operations.push_back(std::move(again));
      v = own;
    }
    now.emplace_back(static_cast<std::uint32_t>(out.operations.size()));
    out.operations.push_back(std::move(copy));
  }
  for (ir::SplitRequest& split : out.splits) split.operation = now[split.operation.index()];
  return out;
}

bool is_closed(const Sharding& sharding) {
  return std::none_of(sharding.dims.begin(), sharding.dims.end(), [](const auto& dim) { return dim.open; });
}

struct CopyConstraint {
  NodeId of, is;
};

// Copies with an explicit sharding, for a use or for a name; excludes results of the program.
std::vector<CopyConstraint> constraints_of(const ShardingNet& net, const ir::Program& program) {
  std::vector<CopyConstraint> list;
  for (const Hyperedge& hyperedge : net.hyperedges) {
    if (hyperedge.program_result || hyperedge.operands.size() != 1 || hyperedge.results.size() != 1) continue;
    bool copy = hyperedge.operation ? is_identity(program[program[hyperedge.graph][*hyperedge.operation].op])
                                    : net.nodes[hyperedge.results[0]].reader.has_value();
    if (copy && net.nodes[hyperedge.results[0]].sharding) list.push_back({hyperedge.operands[0], hyperedge.results[0]});
  }
  return list;
}

// The longest prefix of an axis list that divides the dim evenly.
ir::Axes even_part(const ir::Mesh& mesh, const ir::Axes& axes, std::int64_t points) {
  ir::Axes even;
  for (const ir::AxisRef& axis : axes) {
    std::int64_t size = size_of(mesh, axis), common = std::gcd(size, points);
    if (common == size) even.push_back(axis);
    else if (common > 1) even.push_back(axis_of(mesh, axis.id, {digit(mesh, axis).pre_size, common}));
    if (common != size) break;
    points /= common;
  }
  return even;
}

// The author's own axes, and inferred ones as long as the dim splits evenly and by whole axes.
ir::Axes presentable(const ir::Mesh& mesh, const ir::Axes& own, const ir::Axes& added, std::int64_t points) {
  const std::int64_t blocks = size_of(mesh, own);
  if (points % blocks != 0) return own;
  ir::Axes all = own;
  for (const ir::AxisRef& axis : even_part(mesh, added, points / blocks)) {
    ir::Axes longer = joined(mesh, all, {axis});
    if (longer.back().sub) break;
    all = std::move(longer);
  }
  return all;
}

}  // namespace

ir::Program with_own_constants(ir::Program program) {
  for (ir::Graph& graph : program.graphs) graph = with_own_constants(program, graph);
  return program;
}

void apply_constraints(ShardingNet& net, const ir::Program& program) {
  std::vector<CopyConstraint> all = constraints_of(net, program);
  auto next = [&](NodeId n) -> const CopyConstraint* {  // the only copy of this value, if it has no other reader
    const CopyConstraint* found = nullptr;
    for (const CopyConstraint& c : all)
      if (c.of == n) found = found ? nullptr : &c;
    return found && net.nodes[n].readers.size() == 1 ? found : nullptr;
  };
  struct Given {
    NodeId of, by;
    Sharding sharding;
  };
  std::vector<Given> given;
  for (const CopyConstraint& c : all) {
    if (net.nodes[c.of].sharding) continue;
    // In a chain, the last copy determines the sharding.
    const CopyConstraint* last = &c;
    bool sole = std::count_if(all.begin(), all.end(), [&](const CopyConstraint& o) { return o.of == c.of; }) == 1;
    while (const CopyConstraint* later = sole ? next(last->is) : nullptr) last = later;
    const Sharding& required = *net.nodes[last->is].sharding;
    bool agree = std::all_of(all.begin(), all.end(), [&](const CopyConstraint& o) {
      return o.of != c.of || last != &c || net.nodes[o.is].sharding == required;
    });
    if (is_closed(required) && agree) given.push_back({c.of, last->is, required});
  }
  for (Given& found : given) {
    Node& node = net.nodes[found.of];
    if (node.sharding) continue;
    node.sharding = std::move(found.sharding);
    node.constrained_by = found.by;
  }
}

std::vector<std::string> share_group_shardings(ShardingNet& net, const ir::Program& program) {
  std::vector<std::string> conflicts;
  for (std::vector<NodeId>& group : net.groups) {
    const Node* first = nullptr;
    bool differ = false;
    for (NodeId n : group) {
      const Node& node = net.nodes[n];
      bool constrains =
          node.sharding &&
          !(*node.sharding == Sharding{node.sharding->mesh,
                                       std::vector<ir::DimSharding>(node.sharding->dims.size(), {{}, true, {}}),
                                       {},
                                       {},
                                       {}});
      if (!constrains) continue;
      if (first && first->sharding != node.sharding) {
        differ = true;
        conflicts.push_back(fmt::format("`{}` and `{}` are grouped but have different shardings, {} and {}",
                                        program[first->graph][first->value].name, program[node.graph][node.value].name,
                                        to_string(program.meshes, *first->sharding),
                                        to_string(program.meshes, *node.sharding)));
      }
      if (!first) first = &node;
    }
    // Each keeps its own, and its readers see the group's.
    if (differ)
      for (NodeId& n : group) {
        std::uint32_t number = std::exchange(net.nodes[n].group, ~0u);
        n = copy_for_readers(net, program, n);
        net.nodes[n].group = number;
      }
    if (!first || differ) continue;
    Sharding common = *first->sharding;
    for (NodeId n : group) net.nodes[n].sharding = common;
  }
  return conflicts;
}

void normalise_inferred(ShardingNet& net, const ir::Program& program,
                        const std::vector<std::optional<Sharding>>& given) {
  const ir::Graph& main = program[program.main];
  for (const auto* list : {&main.inputs, &main.outputs})
    for (ValueId v : *list) {
      const NodeId node = net.node_of(program.main, v);
      auto& sharding = net.nodes[node].sharding;
      if (!sharding) continue;
      const ir::Mesh& mesh = program[sharding->mesh];
      for (std::size_t d = 0; d < sharding->dims.size(); ++d) {
        ir::DimSharding& dim = sharding->dims[d];
        ir::Axes own = given[node] && given[node]->mesh == sharding->mesh ? given[node]->dims[d].axes : ir::Axes{};
        if (!is_prefix(mesh, own, dim.axes)) own.clear();
        dim.axes = presentable(mesh, own, suffix_after(mesh, own, dim.axes), main[v].type.shape[d]);
      }
    }
}

}  // namespace tap::passes
