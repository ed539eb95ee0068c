// GraphML, for yEd, Gephi and NetworkX.
#include <fmt/format.h>

#include "compiler/driver/show/drawing.h"

namespace tap::driver {

std::string to_graphml(const Drawing& drawing) {
  std::string text = fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="kind" for="node" attr.name="kind" attr.type="string"/>
  <key id="label" for="node" attr.name="label" attr.type="string"/>
  <key id="detail" for="node" attr.name="detail" attr.type="string"/>
  <key id="value" for="edge" attr.name="value" attr.type="string"/>
  <graph id="{}" edgedefault="directed">
)",
                                 xml_text(drawing.title));
  for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
    const DrawnNode& node = drawing.nodes[i];
    std::string detail = fmt::format("{}", fmt::join(node.lines.begin() + 1, node.lines.end(), "; "));
    text += fmt::format(
        R"(    <node id="n{}"><data key="kind">{}</data><data key="label">{}</data><data key="detail">{}</data></node>)"
        "\n",
        i, name_of(node.kind), xml_text(node.lines.front()), xml_text(detail));
  }
  for (std::size_t i = 0; i < drawing.edges.size(); ++i) {
    const DrawnEdge& edge = drawing.edges[i];
    text += fmt::format(R"(    <edge id="e{}" source="n{}" target="n{}"><data key="value">{}</data></edge>)"
                        "\n",
                        i, edge.from, edge.to, xml_text(edge.label));
  }
  return text + "  </graph>\n</graphml>\n";
}

}  // namespace tap::driver
