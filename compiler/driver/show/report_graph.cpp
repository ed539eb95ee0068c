#include "compiler/driver/show/report_graph.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/graph_text.h"
#include "compiler/driver/show/layered_layout.h"
#include "compiler/driver/show/node_text.h"
#include "compiler/driver/show/report_geometry.h"
#include "compiler/driver/show/report_moves.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/tensor_bytes.h"
#include "ir/text_names.h"
#include "support/byte_size.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

// Operations of a graph with texts of their own; in a larger one, they share those of their operators, and values types.
constexpr std::size_t most_texts = 3000;

template <class Id>
ordered_json indices(const std::vector<Id>& list) {
  ordered_json out = ordered_json::array();
  out.get_ref<ordered_json::array_t&>().reserve(list.size());
  for (Id id : list) out.push_back(id.index());
  return out;
}

// Pictures need no fractions of a pixel.
std::int64_t rounded(double x) { return std::llround(x); }

// Their count, the first one, and of each next one how far it is from the one before.
void add_points(ordered_json& out, const std::vector<Point>& points) {
  out.push_back(points.size());
  std::int64_t x = 0, y = 0;
  for (const Point& p : points) {
    out.push_back(rounded(p.x) - x);
    out.push_back(rounded(p.y) - y);
    x = rounded(p.x);
    y = rounded(p.y);
  }
}

// Without a last point that is the one before: the top of the highest node of a row is the top of the row.
std::vector<Point> points_of(const Branch& branch) {
  std::vector<Point> points = branch.points;
  const std::size_t n = points.size();
  if (n > 2 && points[n - 1].x == points[n - 2].x && points[n - 1].y == points[n - 2].y) points.pop_back();
  return points;
}

// As the page numbers kinds of nodes.
int kind_number(NodeKind kind) {
  switch (kind) {
    case NodeKind::input: return 0;
    case NodeKind::constant: return 1;
    case NodeKind::operation: return 2;
    case NodeKind::output: return 3;
  }
  return 2;
}

int kind_number(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  return op.region() ? 4 : op.transfer() ? 5 : kind_number(NodeKind::operation);
}

std::string_view region_word(ir::RegionKind kind) {
  switch (kind) {
    case ir::RegionKind::call: return "call";
    case ir::RegionKind::iterate: return "iterate";
    case ir::RegionKind::group: return "group";
    case ir::RegionKind::choice: return "choice";
  }
  return "";
}

// The value, and the operator unless one is named after the other: `A = rms_norm`, but `U.matmul`, and `P.partial` of `P`. Of a
// move, its kind.
std::string title_of(const ir::Program& program, const ir::Graph& graph, const ir::Operation& operation,
                     const std::string& op) {
  if (operation.results.empty() || program[operation.op].transfer()) return op;
  auto last_part = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
  const std::string& value = graph[operation.results[0]].name;
  const std::string title = operation.results.size() > 1 ? value + ", …" : value;
  const bool is_named_after = last_part(value) == last_part(op) || value.starts_with(op + ".");
  return is_named_after ? title : title + " = " + op;
}

using MovesByOperation = std::map<std::size_t, MovedBytes>;

// 16 KiB over model
std::string amount_of(const MovedBytes& moved) {
  return byte_size(static_cast<double>(moved.bytes)) + (moved.axes.empty() ? "" : " over " + ir::joined(moved.axes));
}

// A node for each input, operation and output, in this order: what it is, its number there, and its place. In lists of
// numbers, which a page reads fast. `number_of`: of the lines below the first.
template <class NumberOf>
ordered_json layout_json(const ir::Program& program, const ir::Graph& graph, const MovesByOperation& moves,
                         NumberOf number_of) {
  Drawing drawing = draw(program, graph);
  const std::size_t inputs = graph.inputs.size(), operations = graph.operations.size();
  for (std::size_t i = 0; i < operations; ++i) {
    std::vector<std::string>& lines = drawing.nodes[inputs + i].lines;
    lines[0] = title_of(program, graph, graph.operations[i], lines[0]);
    if (auto move = moves.find(i); move != moves.end()) lines = {lines[0], amount_of(move->second)};
  }
  std::vector<Size> sizes;
  for (const DrawnNode& node : drawing.nodes) sizes.push_back(size_of(node));
  LayoutEdges ends;
  for (const DrawnEdge& edge : drawing.edges) ends.emplace_back(edge.from, edge.to);
  const Layout layout = lay_out(sizes, ends);

  ordered_json boxes = ordered_json::array(), titles = boxes, below = boxes, edges = boxes, trunks = boxes;
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    const DrawnNode& node = drawing.nodes[i];
    const bool is_input = i < inputs, is_operation = !is_input && i < inputs + operations;
    const std::size_t number = is_input       ? graph.inputs[i].index()
                               : is_operation ? i - inputs
                                              : graph.outputs[i - inputs - operations].index();
    boxes.push_back(is_operation ? kind_number(program, graph.operations[i - inputs]) : kind_number(node.kind));
    boxes.push_back(number);
    boxes.push_back(rounded(layout.centres[i].x - sizes[i].width / 2));
    boxes.push_back(rounded(layout.centres[i].y - sizes[i].height / 2));
    boxes.push_back(rounded(sizes[i].width));
    boxes.push_back(rounded(sizes[i].height));
    titles.push_back(shortened_line(node.lines[0]));
    ordered_json rest = ordered_json::array();
    for (std::size_t k = 1; k < node.lines.size(); ++k) rest.push_back(shortened_line(node.lines[k]));
    below.push_back(number_of(std::move(rest)));
  }
  std::vector<bool> has_edges(drawing.nodes.size());
  for (std::size_t i = 0; i < drawing.edges.size(); ++i) {
    has_edges[drawing.edges[i].from] = true;
    edges.push_back(drawing.edges[i].from);
    edges.push_back(drawing.edges[i].to);
    add_points(edges, points_of(layout.branches[i]));
  }
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i)
    add_points(trunks, has_edges[i] ? layout.trunks[i] : std::vector<Point>{});
  ordered_json out = object_with_room(7);
  out["width"] = rounded(layout.size.width);
  out["height"] = rounded(layout.size.height);
  out["boxes"] = std::move(boxes);
  out["titles"] = std::move(titles);
  out["below"] = std::move(below);
  out["edges"] = std::move(edges);
  out["trunks"] = std::move(trunks);
  return out;
}

class StageReport {
 public:
  StageReport(const ir::Program& program, ReportSources& sources) : program_(program), sources_(sources) {}

  ordered_json graphs() {
    const auto paths = ir::graph_paths(program_);
    for (std::size_t i = 0; i < paths.size(); ++i) graph_number_[paths[i].first] = i;
    ordered_json out = ordered_json::array();
    for (const auto& [id, path] : paths) out.push_back(graph_json(program_[id], path));
    return out;
  }
  ordered_json operators() { return std::move(operators_); }
  ordered_json shared() { return std::move(shared_); }

 private:
  ordered_json graph_json(const ir::Graph& graph, const std::string& path) {
    ordered_json values = ordered_json::array(), operations = ordered_json::array();
    for (const ir::Value& value : graph.values) {
      ordered_json out = object_with_room(6);
      out["name"] = value.name;
      if (graph.operations.size() > most_texts) {
        out["type"] = type_number(value.type);
      } else {
        out["type"] = to_string(value.type);
        out["shape"] = value.type.shape;
        out["bytes"] = ir::total_bytes(value.type);
      }
      if (value.sharding) out["sharding"] = report_sharding(program_, *value.sharding);
      values.push_back(std::move(out));
    }
    if (path.empty())
      for (ir::ValueId input : graph.inputs) {
        ordered_json lines = sources_.lines_of_input(graph[input].name);
        if (!lines.empty()) values[input.index()]["source"] = std::move(lines);
      }
    const std::vector<std::string> names = ir::operation_names(graph);
    const ir::DefUse uses = ir::def_use(graph);
    MovesByOperation moves;
    for (std::size_t i = 0; i < graph.operations.size(); ++i) {
      operations.push_back(operation_json(graph, graph.operations[i], path + names[i]));
      if (!program_[graph.operations[i].op].transfer()) continue;
      operations.back()["move"] = move_json(moves[i] = moved_bytes(program_, graph, uses, graph.operations[i]));
    }
    ordered_json out = object_with_room(7);
    out["name"] = graph.name;
    out["path"] = path;
    out["inputs"] = indices(graph.inputs);
    out["outputs"] = indices(graph.outputs);
    out["values"] = std::move(values);
    out["operations"] = std::move(operations);
    out["layout"] =
        layout_json(program_, graph, moves, [this](ordered_json lines) { return shared_number(std::move(lines)); });
    return out;
  }

  // Many nodes have the same lines; in a large graph, operations the same placements, values the same type: each once.
  std::size_t shared_number(ordered_json value) {
    auto [at, fresh] = shared_number_.emplace(value.dump(), shared_.size());
    if (fresh) shared_.push_back(std::move(value));
    return at->second;
  }

  // Neighbours are often alike: only the first of them is made into text.
  std::size_t type_number(const ir::TensorType& type) {
    if (!last_type_ || last_type_->first != type)
      last_type_.emplace(type, shared_number({to_string(type), type.shape, ir::total_bytes(type)}));
    return last_type_->second;
  }
  std::size_t placements_number(const ir::Operation& operation) {
    if (!last_placements_ || last_placements_->first != operation.placements)
      last_placements_.emplace(operation.placements, shared_number(report_placements(program_, operation)));
    return last_placements_->second;
  }

  static ordered_json move_json(const MovedBytes& moved) {
    return {{"kind", moved.kind},
            {"bytes", moved.bytes},
            {"axes", moved.axes},
            {"devices", moved.devices},
            {"of", moved.all_devices}};
  }

  ordered_json operation_json(const ir::Graph& graph, const ir::Operation& operation, const std::string& name) {
    const ir::Operator& op = program_[operation.op];
    ordered_json out = object_with_room(9);
    out["name"] = name;
    out["operator"] = operator_number(operation.op);
    out["operands"] = indices(operation.operands);
    out["results"] = indices(operation.results);
    if (!op.region() && graph.operations.size() <= most_texts) out["text"] = equation_text(program_, graph, operation);
    if (!operation.placements.empty()) {
      if (graph.operations.size() > most_texts) out["placements"] = placements_number(operation);
      else out["placements"] = report_placements(program_, operation);
    }
    if (const ir::RegionBody* region = op.region())
      out["region"] = {{"kind", region_word(region->kind)}, {"graph", graph_number_.at(region->graph)}};
    ordered_json lines = sources_.lines_of(name);
    if (!lines.empty()) out["source"] = std::move(lines);
    return out;
  }

  std::size_t operator_number(ir::OperatorId id) {
    auto [at, fresh] = operator_number_.emplace(id, operators_.size());
    if (fresh) operators_.push_back(report_operator(program_, program_[id]));
    return at->second;
  }

  const ir::Program& program_;
  ReportSources& sources_;
  ordered_json operators_ = ordered_json::array();
  ordered_json shared_ = ordered_json::array();
  std::map<std::string, std::size_t> shared_number_;
  std::optional<std::pair<ir::TensorType, std::size_t>> last_type_;
  std::optional<std::pair<std::vector<ir::BlockPlacement>, std::size_t>> last_placements_;
  std::map<ir::OperatorId, std::size_t> operator_number_;
  std::map<ir::GraphId, std::size_t> graph_number_;
};

}  // namespace

ordered_json report_stage(const ir::Program& program, std::string_view name, std::string_view about,
                          ReportSources& sources) {
  StageReport report(program, sources);
  ordered_json out = object_with_room(5);
  out["name"] = name;
  out["about"] = about;
  out["graphs"] = report.graphs();
  out["operators"] = report.operators();
  out["shared"] = report.shared();
  return out;
}

}  // namespace tap::driver
