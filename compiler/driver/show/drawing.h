// A graph prepared for drawing: nodes with lines of text, edges that carry values. Shared by dot, SVG and GraphML.
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/placement.h"

namespace tap::driver {

enum class NodeKind : std::uint8_t { input, constant, output, operation };
std::string_view name_of(NodeKind kind);

struct DrawnNode {
  NodeKind kind = NodeKind::operation;
  std::vector<std::string> lines;  // the first is the title
};
struct DrawnEdge {
  std::size_t from = 0, to = 0;
  std::string label;  // H: f32[4, 8]
};
struct Drawing {
  std::string title;
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
};

// The placement of blocks: threads, pod.data.
std::string place_name(const ir::Program& program, const ir::BlockPlacement& placement);

Drawing draw(const ir::Program& program, const ir::Graph& graph);
// Of main, and of the graphs inside it: those of calls, iterates, groups and choices, titled by their paths.
std::vector<Drawing> draw_all(const ir::Program& program);

std::string to_dot(const Drawing& drawing);
// The first, and below or beside it the others, each in a frame with its title.
std::string to_svg(const std::vector<Drawing>& drawings);
std::string to_graphml(const Drawing& drawing);

// &lt; for <; characters that XML cannot contain become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace tap::driver
