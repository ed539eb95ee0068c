// SVG with our own layout, so that drawing a graph needs no other tool.
#include <fmt/format.h>

#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/layered_layout.h"
#include "compiler/driver/show/node_text.h"

namespace tap::driver {
namespace {

std::string_view fill_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::input: return "#dbeafe";
    case NodeKind::constant: return "#e5e7eb";
    case NodeKind::output: return "#dcfce7";
    case NodeKind::operation: return "#ffffff";
  }
  return "";
}

std::string draw_node(const DrawnNode& node, Point centre, Size size) {
  std::string text = fmt::format(
      R"(  <g class="{}"><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{}" fill="{}" stroke="#374151"/>)",
      name_of(node.kind), centre.x - size.width / 2, centre.y - size.height / 2, size.width, size.height,
      node.kind == NodeKind::operation ? 3 : 10, fill_of(node.kind));
  double y = centre.y - size.height / 2 + node_padding + 11;
  for (std::size_t i = 0; i < node.lines.size(); ++i, y += node_line_height)
    text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}"{}>{}</text>)", centre.x, y,
                        i == 0 ? R"( font-weight="bold")" : R"( fill="#4b5563")",
                        xml_text(shortened_line(node.lines[i])));
  return text + "</g>\n";
}

// Its title is the value's type, which browsers show on hovering.
std::string draw_branch(const DrawnEdge& edge, const Branch& branch) {
  return fmt::format(R"_(  <path d="{}"{} marker-end="url(#arrow)"><title>{}</title></path>)_"
                     "\n",
                     path_data(branch.points), branch.direct ? R"( stroke-dasharray="4 4")" : "", xml_text(edge.label));
}

// The part that the edges of a node share; nothing if it is no longer than the node.
std::string draw_trunk(const std::vector<Point>& points) {
  if (points.size() == 2 && points[0].y == points[1].y) return "";
  return fmt::format("  <path d=\"{}\"/>\n", path_data(points));
}

}  // namespace

std::string to_svg(const Drawing& drawing) {
  std::vector<Size> sizes;
  for (const DrawnNode& node : drawing.nodes) sizes.push_back(size_of(node));
  LayoutEdges edges;
  for (const DrawnEdge& edge : drawing.edges) edges.emplace_back(edge.from, edge.to);
  Layout layout = lay_out(sizes, edges);

  std::string text = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}">
  <title>{2}</title>
  <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#374151"/></marker></defs>
  <rect width="100%" height="100%" fill="#ffffff"/>
  <g fill="none" stroke="#374151">
)",
      layout.size.width, layout.size.height, xml_text(drawing.title));
  std::vector<bool> has_edges(drawing.nodes.size());
  for (const DrawnEdge& edge : drawing.edges) has_edges[edge.from] = true;
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i)
    if (has_edges[i]) text += draw_trunk(layout.trunks[i]);
  for (std::size_t i = 0; i < drawing.edges.size(); ++i) text += draw_branch(drawing.edges[i], layout.branches[i]);
  text += "  </g>\n  <g font-family=\"ui-monospace, monospace\" font-size=\"11\" text-anchor=\"middle\">\n";
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i)
    text += draw_node(drawing.nodes[i], layout.centres[i], sizes[i]);
  return text + "  </g>\n</svg>\n";
}

}  // namespace tap::driver
