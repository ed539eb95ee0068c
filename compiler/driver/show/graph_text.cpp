#include "compiler/driver/show/graph_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/report_moves.h"
#include "compiler/driver/show/sharding_report.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text.h"
#include "ir/text_names.h"
#include "support/byte_size.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

// Names that the compiler makes have dots: they need no quotes here, where nothing reads them back.
std::string readable_name(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("_.#@/").find(c) != std::string_view::npos;
  });
  return plain ? name : ir::quoted(name);
}

std::string declared(const ir::Program& program, const ir::Value& value) {
  return fmt::format("{}{}: {}{}", value.is_const ? "const " : "", readable_name(value.name), to_string(value.type),
                     value.sharding ? " @ " + to_string(program.meshes, *value.sharding) : "");
}

// The operator with the names of the values that this operation reads and writes.
ir::Operator with_value_names(const ir::Program& program, const ir::Graph& graph, const ir::Operation& operation) {
  ir::Operator op = ir::with_author_names(program, operation);
  op.operand_names.clear();
  op.result_names.clear();
  for (ir::ValueId v : operation.operands) op.operand_names.push_back(graph[v].name);
  for (ir::ValueId v : operation.results) op.result_names.push_back(graph[v].name);
  return op;
}

std::string names_of_all(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  std::vector<std::string> names;
  for (ir::ValueId v : values) names.push_back(readable_name(graph[v].name));
  return ir::joined(names);
}

// `Y = linear(X, W)`: for operations whose body is a graph, a kernel or a transfer.
std::string applied(const ir::Graph& graph, const ir::Operation& operation, const ir::Operator& op,
                    const std::string& words) {
  return fmt::format("{} = {}({}){}\n", names_of_all(graph, operation.results), readable_name(op.name),
                     names_of_all(graph, operation.operands), words);
}

std::string region_lines(const ir::Program& program, const ir::Graph& graph, const ir::Operation& operation,
                         const std::string& path) {
  const ir::Operator& op = program[operation.op];
  const ir::RegionBody& region = *op.region();
  std::string what;
  switch (region.kind) {
    case ir::RegionKind::call: what = ""; break;
    case ir::RegionKind::iterate: what = plural(static_cast<std::uint64_t>(region.trips.size()), "time"); break;
    case ir::RegionKind::group: what = "group"; break;
    case ir::RegionKind::choice:
      what = fmt::format("choice of {}", plural(region.alternatives.size() + 1, "alternative"));
      break;
  }
  std::string text =
      applied(graph, operation, ir::with_author_names(program, operation), what.empty() ? "" : ", " + what);
  return text + fmt::format("  graph  {}\n", path.empty() ? readable_name(program[region.graph].name) : path);
}

class GraphText {
 public:
  explicit GraphText(const ir::Program& program) : program_(program), paths_(ir::graph_paths(program)) {}

  std::string run() const {
    std::string text = mesh_lines(program_);
    if (!text.empty()) text += "\n";
    for (const auto& [id, path] : paths_) text += graph_text(program_[id], path);
    return text;
  }

  std::string operation_text(const ir::Graph& graph, const ir::Operation& operation, const std::string& name) const {
    const ir::Operator& op = program_[operation.op];
    std::string text = op.region() ? region_lines(program_, graph, operation, path_of(op.region()->graph, name))
                                   : equation_text(program_, graph, operation);
    for (ir::ValueId v : operation.results)
      if (const auto& sharding = graph[v].sharding)
        text += fmt::format("  held   {} @ {}\n", readable_name(graph[v].name), to_string(program_.meshes, *sharding));
    for (std::size_t k = 0; k < operation.operand_shardings.size(); ++k)
      if (const auto& sharding = operation.operand_shardings[k])
        text += fmt::format("  used   {} @ {}\n", readable_name(graph[operation.operands[k]].name),
                            to_string(program_.meshes, *sharding));
    for (const ir::BlockPlacement& p : operation.placements)
      text += fmt::format("  split  {} over {}\n",
                          p.dim == ir::whole_operation ? "all" : own_dim_name(op, operation.names, p.dim),
                          place_name(program_, p));
    if (op.transfer()) text += move_line(graph, operation);
    return text;
  }

 private:
  std::string graph_text(const ir::Graph& graph, const std::string& path) const {
    std::string text = path.empty() ? "program " + readable_name(graph.name) + "\n"
                                    : fmt::format("\ngraph {} of {}\n", readable_name(graph.name), path);
    for (ir::ValueId v : graph.inputs) text += "  input  " + declared(program_, graph[v]) + "\n";
    for (ir::ValueId v : graph.outputs) text += "  result " + declared(program_, graph[v]) + "\n";
    const std::vector<std::string> names = ir::operation_names(graph);
    for (std::size_t i = 0; i < graph.operations.size(); ++i)
      text += "\n" + operation_text(graph, graph.operations[i], path + names[i]);
    return text;
  }

  std::string move_line(const ir::Graph& graph, const ir::Operation& operation) const {
    auto [uses, fresh] = uses_.try_emplace(&graph);
    if (fresh) uses->second = ir::def_use(graph);
    const MovedBytes moved = moved_bytes(program_, graph, uses->second, operation);
    if (moved.bytes == 0) return "  move   nothing between devices\n";
    return fmt::format("  move   at most {}{} to any one device\n", byte_size(static_cast<double>(moved.bytes)),
                       moved.axes.empty() ? "" : " over " + ir::joined(moved.axes));
  }

  // Where the graph is listed: a graph that several operations share has the path of the first.
  std::string path_of(ir::GraphId graph, const std::string& name) const {
    auto at = std::find_if(paths_.begin(), paths_.end(), [&](const auto& known) { return known.first == graph; });
    return at == paths_.end() ? name : at->second;
  }

  const ir::Program& program_;
  std::vector<std::pair<ir::GraphId, std::string>> paths_;
  mutable std::map<const ir::Graph*, ir::DefUse> uses_;  // of graphs with transfers; never iterated over
};

}  // namespace

// Without the operator's name, which the values' names replace.
std::string equation_text(const ir::Program& program, const ir::Graph& graph, const ir::Operation& operation) {
  const ir::Operator op = with_value_names(program, graph, operation);
  std::string text = ir::print(program, op);
  const std::string heading = "operator " + op.name;
  if (text.starts_with(heading)) text.erase(0, heading.size());
  if (op.map() || op.reduce()) {
    if (text.starts_with(": ")) return text.substr(2);
    // Several equations, or a long one: they are the lines `body`.
    return names_of_all(graph, operation.results) + text;
  }
  return applied(graph, operation, op, "") + text.substr(text.find('\n') + 1);
}

OperationText operation_texts(const ir::Program& program) {
  return [texts = GraphText(program)](const ir::Graph& graph, const ir::Operation& operation, const std::string& name) {
    return texts.operation_text(graph, operation, name);
  };
}

std::string to_text(const ir::Program& program) { return GraphText(program).run(); }

}  // namespace tap::driver
