// The rows of a layered layout, before it is folded: which row each node is in, in which order, and how far right.
// Node numbers from the count of the nodes on are passages: where the edges from one node pass a row.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/driver/show/layered_layout.h"

namespace tap::driver {

struct Rows {
  std::vector<std::vector<std::size_t>> nodes;     // by row, from left to right
  std::vector<std::size_t> row;                    // by node and passage
  std::vector<double> x;                           // of the centre, by node and passage
  std::vector<double> widths;                      // by node and passage
  std::vector<std::vector<std::size_t>> passages;  // by node: its passages, from top to bottom
};

// Rows of limited width: a row that is full moves nodes down, or, if they have no predecessors, up.
std::vector<std::size_t> row_of_nodes(const std::vector<Size>& nodes, const LayoutEdges& edges, double widest);

Rows arrange_rows(const std::vector<Size>& nodes, const LayoutEdges& edges, double widest);

// The width of rows to begin with: half as wide again as a square with the area of all nodes.
double usual_width(const std::vector<Size>& nodes);

// The passages that a layout may have; the longest edges of nodes that need more go around all rows.
constexpr std::size_t most_passages = 400'000;
constexpr double node_gap = 28;

}  // namespace tap::driver
