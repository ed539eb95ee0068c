// Prints a graph in readable form:
//
//   graph mlp(X: f32[4, 8], const W: f32[8, 2]) -> (Y)
//     H: f32[4, 2] = matmul(X, W)
//     Y: f32[4, 2] = relu(H)
#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

class GraphPrinter {
 public:
  GraphPrinter(const Program& program, const Graph& graph)
      : program_(program), graph_(graph), names_(value_names(graph)) {}

  std::string run() const {
    std::vector<std::string> inputs;
    for (ValueId v : graph_.inputs) inputs.push_back((graph_[v].is_const ? "const " : "") + declared(v));
    std::string text = fmt::format("graph {}({}) -> ({})\n", graph_.name, joined(inputs), list(graph_.outputs));
    for (const Operation& operation : graph_.operations) text += "  " + line(operation) + "\n";
    for (const ShardingGroup& group : graph_.groups) text += "  group " + list(group.values) + "\n";
    for (const Barrier& barrier : graph_.barriers)
      text += "  barrier " + names_[barrier.value.index()] + direction(barrier.kind) + "\n";
    for (const SplitRequest& split : graph_.splits) text += "  " + line(split) + "\n";
    return text;
  }

 private:
  std::string declared(ValueId v) const {
    std::string text = names_[v.index()] + ": " + to_string(graph_[v].type);
    if (graph_[v].sharding) text += " @ " + to_string(program_.meshes, *graph_[v].sharding);
    return text;
  }

  std::string list(const std::vector<ValueId>& values) const {
    std::vector<std::string> parts;
    for (ValueId v : values) parts.push_back(names_[v.index()]);
    return joined(parts);
  }

  std::string line(const Operation& operation) const {
    std::vector<std::string> results, operands;
    for (ValueId v : operation.results) results.push_back(declared(v));
    for (std::size_t k = 0; k < operation.operands.size(); ++k) {
      operands.push_back(names_[operation.operands[k].index()]);
      if (k < operation.operand_shardings.size() && operation.operand_shardings[k])
        operands.back() += " @ " + to_string(program_.meshes, *operation.operand_shardings[k]);
    }
    return fmt::format("{} = {}({})", joined(results), own_name(program_[operation.op], operation.names),
                       joined(operands));
  }

  static std::string direction(BarrierKind kind) {
    switch (kind) {
      case BarrierKind::forward: return " forward";
      case BarrierKind::backward: return " backward";
      case BarrierKind::both: return "";
    }
    return "";
  }

  std::string line(const SplitRequest& split) const {
    std::vector<std::string> blocks;
    for (Range block : split.blocks) blocks.push_back(to_string(block));
    std::string where = split.value ? fmt::format("axis {}", split.axis) : split.dim;
    std::string text =
        fmt::format("split {} on {} into [{}]", list(graph_[split.operation].results), where, joined(blocks));
    if (split.placement == Placement::threads) text += " over threads";
    if (split.placement == Placement::sequential) text += " in sequence";
    if (split.mesh_axis) text += " over axis " + named(program_[split.mesh], *split.mesh_axis).name;
    return text;
  }

  const Program& program_;
  const Graph& graph_;
  std::vector<std::string> names_;  // by value
};

}  // namespace

std::string print(const Program& program, const Graph& graph) { return GraphPrinter(program, graph).run(); }

}  // namespace tap::ir
