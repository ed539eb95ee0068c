#include "compiler/driver/show/drawing.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text/text_tables.h"
#include "support/plural.h"
#include "support/source_excerpt.h"

namespace tap::driver {
namespace {

bool numbers_blocks(const ir::Operator& op, std::size_t dim) {
  return std::any_of(op.blockings.begin(), op.blockings.end(),
                     [&](const ir::Blocking& b) { return b.block_dim == dim; });
}

// i, j over 4 × 8; sum of k over 16
std::string index_space(const ir::Program& program, const ir::Operator& op, const ir::Operation& operation) {
  std::string names, sizes, reduced;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (numbers_blocks(op, d)) continue;
    const ir::IndexDim& dim = op.dims[d];
    bool reduction = dim.role == ir::DimRole::reduction;
    std::string& list = reduction ? reduced : names;
    list += (list.empty() ? "" : ", ") + own_dim_name(op, operation.names, d);
    if (reduction) list += fmt::format(" in {}", ir::to_string(dim.range));
    else sizes += (sizes.empty() ? "" : " × ") + std::to_string(dim.range.size());
  }
  std::string text = names.empty() ? "one point" : names + " over " + sizes;
  if (const ir::ReduceBody* reduce = op.reduce()) text += "; " + program[reduce->monoid].name + " of " + reduced;
  return text;
}

// i in 2 blocks over pod.data
std::vector<std::string> blocks_of(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  std::vector<std::string> lines;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    std::string blocks, where;
    for (const ir::Blocking& b : op.blockings)
      if (b.block_dim == d) blocks += (blocks.empty() ? "" : ", ") + own_dim_name(op, operation.names, b.dim);
    for (const ir::BlockPlacement& p : operation.placements)
      if (p.dim == d) where = " over " + place_name(program, p);
    if (!blocks.empty())
      lines.push_back(fmt::format("{} in {}{}", blocks, plural(op.dims[d].range.size(), "block"), where));
    else if (!where.empty()) lines.push_back(own_dim_name(op, operation.names, d) + where);
  }
  for (const ir::BlockPlacement& p : operation.placements)
    if (p.dim == ir::whole_operation) lines.push_back("all on " + place_name(program, p));
  return lines;
}

std::vector<std::string> lines_of(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  std::vector<std::string> lines{own_name(op, operation.names)};
  if (const ir::RegionBody* region = op.region()) {
    if (region->kind == ir::RegionKind::iterate)
      lines.push_back(fmt::format("iterate {}", ir::to_string(region->trips)));
  } else {
    lines.push_back(index_space(program, op, operation));
  }
  if (const ir::KernelBody* kernel = op.kernel()) lines.push_back("kernel " + kernel->symbol);
  for (std::string& line : blocks_of(program, operation)) lines.push_back(std::move(line));
  return lines;
}

std::string label_of(const ir::Value& value) { return value.name + ": " + to_string(value.type); }

}  // namespace

std::string place_name(const ir::Program& program, const ir::BlockPlacement& p) {
  std::string at = p.axis && p.dim == ir::whole_operation ? fmt::format(" at {}", p.number) : "";
  if (p.axis) return program[p.mesh].name + "." + ir::to_string(program[p.mesh], *p.axis) + at;
  if (p.placement == ir::Placement::devices) return "devices " + ir::to_string(p.devices);
  return std::string(ir::words::text_of(ir::words::placements, p.placement));
}

std::string_view name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::input: return "input";
    case NodeKind::constant: return "const";
    case NodeKind::output: return "output";
    case NodeKind::operation: return "operation";
  }
  return "";
}

Drawing draw(const ir::Program& program, const ir::Graph& graph) {
  Drawing drawing{graph.name, {}, {}};
  ir::DefUse uses = ir::def_use(graph);
  std::vector<std::size_t> input_node(graph.values.size(), 0);
  for (ir::ValueId input : graph.inputs) {
    const ir::Value& value = graph[input];
    input_node[input.index()] = drawing.nodes.size();
    drawing.nodes.push_back(
        {value.is_const ? NodeKind::constant : NodeKind::input, {value.name, to_string(value.type)}});
  }
  std::size_t first_operation = drawing.nodes.size();
  for (const ir::Operation& operation : graph.operations)
    drawing.nodes.push_back({NodeKind::operation, lines_of(program, operation)});

  auto connect = [&](ir::ValueId value, std::size_t to) {
    const auto& writers = uses.writers[value.index()];
    if (writers.empty()) drawing.edges.push_back({input_node[value.index()], to, label_of(graph[value])});
    for (ir::OperationId writer : writers)
      drawing.edges.push_back({first_operation + writer.index(), to, label_of(graph[value])});
  };
  for (std::size_t i = 0; i < graph.operations.size(); ++i)
    for (ir::ValueId operand : graph.operations[i].operands) connect(operand, first_operation + i);
  for (ir::ValueId output : graph.outputs) {
    drawing.nodes.push_back({NodeKind::output, {graph[output].name, to_string(graph[output].type)}});
    connect(output, drawing.nodes.size() - 1);
  }
  return drawing;
}

std::vector<Drawing> draw_all(const ir::Program& program) {
  std::vector<Drawing> all;
  for (const auto& [graph, path] : ir::graph_paths(program)) {
    all.push_back(draw(program, program[graph]));
    if (path.empty()) continue;
    std::string& title = all.back().title;
    const std::string owner = path.substr(0, path.size() - 1);
    title = title.empty() || title == owner ? owner : owner + ": " + title;
  }
  return all;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    auto [value, bytes] = decode_utf8(text, at);
    switch (value) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default:
        if (value < 0x20 || value == 0xFFFD || value == 0xFFFE || value == 0xFFFF) out += "\xEF\xBF\xBD";
        else out += text.substr(at, bytes);
    }
    at += bytes;
  }
  return out;
}

}  // namespace tap::driver
