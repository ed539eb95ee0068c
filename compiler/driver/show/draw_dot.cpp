// Graphviz: `tapc inspect FILE --format dot | dot -Tpng -o graph.png`.
#include <fmt/format.h>

#include "compiler/driver/show/drawing.h"

namespace tap::driver {
namespace {

std::string dot_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string_view style_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::input: return "shape=box, style=\"rounded,filled\", fillcolor=\"#dbeafe\"";
    case NodeKind::constant: return "shape=box, style=\"rounded,filled\", fillcolor=\"#e5e7eb\"";
    case NodeKind::output: return "shape=box, style=\"rounded,filled\", fillcolor=\"#dcfce7\"";
    case NodeKind::operation: return "shape=box, style=filled, fillcolor=\"#ffffff\"";
  }
  return "";
}

}  // namespace

std::string to_dot(const Drawing& drawing) {
  std::string text = fmt::format(
      "digraph \"{}\" {{\n  node [fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", "
      "fontsize=9];\n",
      dot_text(drawing.title));
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    std::string label;
    for (const std::string& line : drawing.nodes[i].lines) label += (label.empty() ? "" : "\\n") + dot_text(line);
    text += fmt::format("  n{} [label=\"{}\", {}];\n", i, label, style_of(drawing.nodes[i].kind));
  }
  for (const DrawnEdge& edge : drawing.edges)
    text += fmt::format("  n{} -> n{} [label=\"{}\"];\n", edge.from, edge.to, dot_text(edge.label));
  return text + "}\n";
}

}  // namespace tap::driver
