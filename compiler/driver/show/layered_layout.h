// Lays out a directed acyclic graph in rows, from top to bottom: each node is below its predecessors, as near to its
// neighbours as the order within its row allows (Sugiyama's method). No edge crosses a node: an edge that passes a row
// has a place of its own in it, shared by all edges from one node; if there are too many of them, the longest go around
// all rows, in bundles beside them. A layout that is much higher than wide is folded:
// its rows continue at the top of the next column.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tap::driver {

struct Size {
  double width = 0, height = 0;
};
struct Point {
  double x = 0, y = 0;
};
using LayoutEdges = std::vector<std::pair<std::size_t, std::size_t>>;  // from upper to lower node

// The end of an edge: from the point `start` of its upper node's trunk to the top of its lower node.
struct Branch {
  std::size_t start = 0;
  std::vector<Point> points;  // the first is the trunk's point
};
struct Layout {
  std::vector<Point> centres;              // by node
  std::vector<std::vector<Point>> trunks;  // by node: from its bottom, as far down as an edge follows it
  std::vector<Branch> branches;            // by edge
  Size size;
  std::size_t columns = 1;
};

// Pre: no cycle.
Layout lay_out(const std::vector<Size>& nodes, const LayoutEdges& edges);

// Lines are vertical or horizontal where they pass nodes, and slanted only between rows; there they are drawn as curves
// with vertical ends, which stay in the rectangle of their ends. The data of an SVG path.
std::string path_data(const std::vector<Point>& points);

}  // namespace tap::driver
