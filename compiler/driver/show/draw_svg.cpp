// SVG with our own layout, so that drawing a graph needs no other tool.
#include <fmt/format.h>

#include <algorithm>

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
  return fmt::format(R"_(  <path d="{}" marker-end="url(#arrow)"><title>{}</title></path>)_"
                     "\n",
                     path_data(branch.points), xml_text(edge.label));
}

// The part that the edges of a node share; nothing if it is no longer than the node.
std::string draw_trunk(const std::vector<Point>& points) {
  if (points.size() == 2 && points[0].y == points[1].y) return "";
  return fmt::format("  <path d=\"{}\"/>\n", path_data(points));
}

struct Placed {
  const Drawing* drawing = nullptr;
  std::vector<Size> sizes;
  Layout layout;
  Point at;  // of its frame, or of the picture's corner for the first
};

constexpr double gap = 16, title_height = 24;  // around frames; in them, above the graph
constexpr double wanted_ratio = 1.4;           // of width to height

Placed laid_out(const Drawing& drawing) {
  Placed placed{&drawing, {}, {}, {}};
  for (const DrawnNode& node : drawing.nodes) placed.sizes.push_back(size_of(node));
  LayoutEdges edges;
  for (const DrawnEdge& edge : drawing.edges) edges.emplace_back(edge.from, edge.to);
  placed.layout = lay_out(placed.sizes, edges);
  return placed;
}

double title_width(const Drawing& drawing) { return size_of({NodeKind::operation, {drawing.title}}).width; }

Size frame_of(const Placed& placed) {
  return {std::max(placed.layout.size.width, title_width(*placed.drawing)), title_height + placed.layout.size.height};
}

// Frames in rows of at most this width, or of one frame.
Size place_in_rows(std::vector<Placed>& all, Point corner, double width) {
  Size taken;
  double x = 0, y = 0, row_height = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Size frame = frame_of(all[i]);
    if (x > 0 && x + frame.width > width) {
      x = 0;
      y += row_height + gap;
      row_height = 0;
    }
    all[i].at = {corner.x + x, corner.y + y};
    row_height = std::max(row_height, frame.height);
    taken = {std::max(taken.width, x + frame.width), y + row_height};
    x += frame.width + gap;
  }
  return taken;
}

// Below the first or beside it, in rows of the width with which the picture is the largest in a window.
Size place_all(std::vector<Placed>& all) {
  const Size main = all[0].layout.size;
  if (all.size() == 1) return main;
  double widest = 0, sum = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    widest = std::max(widest, frame_of(all[i]).width);
    sum += frame_of(all[i]).width + gap;
  }
  const Point below{gap, main.height + gap}, beside{main.width + gap, gap};
  Size best;
  auto needed = [](Size size) { return std::max(size.width / wanted_ratio, size.height); };
  auto place = [&](Point corner, double width) {
    const Size taken = place_in_rows(all, corner, width);
    return Size{std::max(main.width, corner.x + taken.width + gap),
                std::max(main.height, corner.y + taken.height + gap)};
  };
  Point corner = below;
  double best_width = 0;
  for (double width = widest; width < 1.25 * sum; width *= 1.25)
    for (Point at : {below, beside}) {
      const Size size = place(at, width);
      if (best_width > 0 && needed(size) >= needed(best)) continue;
      best = size;
      corner = at;
      best_width = width;
    }
  return place(corner, best_width);
}

Point moved(Point p, Point by) { return {p.x + by.x, p.y + by.y}; }

// The layout where the picture has it.
void move(Layout& layout, Point by) {
  for (Point& centre : layout.centres) centre = moved(centre, by);
  for (std::vector<Point>& trunk : layout.trunks)
    for (Point& p : trunk) p = moved(p, by);
  for (Branch& branch : layout.branches)
    for (Point& p : branch.points) p = moved(p, by);
}

std::string draw_frame(const Placed& placed) {
  const Size frame = frame_of(placed);
  return fmt::format(
      R"(  <g class="frame"><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="6" fill="#f8fafc" stroke="#9ca3af"/>)"
      R"(<text x="{:.1f}" y="{:.1f}" font-weight="bold">{}</text></g>)"
      "\n",
      placed.at.x, placed.at.y, frame.width, frame.height, placed.at.x + node_padding, placed.at.y + 16,
      xml_text(shortened_line(placed.drawing->title)));
}

std::string draw_lines(const Placed& placed) {
  const Drawing& drawing = *placed.drawing;
  std::string text;
  std::vector<bool> has_edges(drawing.nodes.size());
  for (const DrawnEdge& edge : drawing.edges) has_edges[edge.from] = true;
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i)
    if (has_edges[i]) text += draw_trunk(placed.layout.trunks[i]);
  for (std::size_t i = 0; i < drawing.edges.size(); ++i)
    text += draw_branch(drawing.edges[i], placed.layout.branches[i]);
  return text;
}

}  // namespace

// Pre: there is one.
std::string to_svg(const std::vector<Drawing>& drawings) {
  std::vector<Placed> all;
  for (const Drawing& drawing : drawings) all.push_back(laid_out(drawing));
  const Size size = place_all(all);
  for (std::size_t i = 1; i < all.size(); ++i)
    move(all[i].layout, moved(all[i].at, {(frame_of(all[i]).width - all[i].layout.size.width) / 2, title_height}));

  std::string text = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}">
  <title>{2}</title>
  <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#374151"/></marker></defs>
  <rect width="100%" height="100%" fill="#ffffff"/>
)",
      size.width, size.height, xml_text(drawings[0].title));
  constexpr std::string_view font = R"(font-family="ui-monospace, monospace" font-size="11")";
  if (all.size() > 1) {
    text += fmt::format("  <g {}>\n", font);
    for (std::size_t i = 1; i < all.size(); ++i) text += draw_frame(all[i]);
    text += "  </g>\n";
  }
  text += "  <g fill=\"none\" stroke=\"#374151\">\n";
  for (const Placed& placed : all) text += draw_lines(placed);
  text += fmt::format("  </g>\n  <g {} text-anchor=\"middle\">\n", font);
  for (const Placed& placed : all)
    for (std::size_t i = 0; i < placed.sizes.size(); ++i)
      text += draw_node(placed.drawing->nodes[i], placed.layout.centres[i], placed.sizes[i]);
  return text + "  </g>\n</svg>\n";
}

}  // namespace tap::driver
