// Lays out a directed acyclic graph in layers, from top to bottom: each node is below its predecessors, as near to
// its neighbours as the order within its layer allows. (Sugiyama's method without dummy nodes for long edges, which
// are drawn as curves.)
#pragma once

#include <cstddef>
#include <vector>

namespace tap::driver {

struct Size {
  double width = 0, height = 0;
};
struct NodeCentre {
  double x = 0, y = 0;  // of the centre
};
struct Layout {
  std::vector<NodeCentre> centres;  // by node
  Size size;
};

// `edges` are pairs of node numbers, from upper to lower. Pre: no cycle.
Layout lay_out(const std::vector<Size>& nodes, const std::vector<std::pair<std::size_t, std::size_t>>& edges);

}  // namespace tap::driver
