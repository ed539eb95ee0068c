#include "compiler/driver/show/layered_layout.h"

#include <algorithm>
#include <numeric>

namespace tap::driver {
namespace {

constexpr double column_gap = 28;
constexpr double layer_gap = 56;
constexpr double margin = 16;
constexpr int sweeps = 8;

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;
using Neighbours = std::vector<std::vector<std::size_t>>;
using Layers = std::vector<std::vector<std::size_t>>;

// A node's layer is the length of the longest path to it. A node without predecessors is directly above its first user.
std::vector<std::size_t> layers_of(std::size_t count, const Edges& edges) {
  Neighbours below(count);
  std::vector<std::size_t> waiting(count), layer(count), order;
  for (auto [from, to] : edges) {
    below[from].push_back(to);
    ++waiting[to];
  }
  for (std::size_t n = 0; n < count; ++n)
    if (waiting[n] == 0) order.push_back(n);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t to : below[order[i]]) {
      layer[to] = std::max(layer[to], layer[order[i]] + 1);
      if (--waiting[to] == 0) order.push_back(to);
    }
  for (std::size_t n = 0; n < count; ++n) {
    if (layer[n] != 0 || below[n].empty()) continue;
    std::size_t first = count;
    for (std::size_t to : below[n]) first = std::min(first, layer[to]);
    layer[n] = first - 1;
  }
  return layer;
}

// Orders a layer by the mean position of each node's neighbours in `neighbours`.
void sort_by_neighbours(std::vector<std::size_t>& layer, const Neighbours& neighbours, std::vector<double>& position) {
  std::vector<std::pair<double, std::size_t>> barycentres;
  for (std::size_t n : layer) {
    double sum = 0;
    for (std::size_t other : neighbours[n]) sum += position[other];
    barycentres.emplace_back(neighbours[n].empty() ? position[n] : sum / static_cast<double>(neighbours[n].size()), n);
  }
  std::stable_sort(barycentres.begin(), barycentres.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < layer.size(); ++i) {
    layer[i] = barycentres[i].second;
    position[layer[i]] = static_cast<double>(i) - static_cast<double>(layer.size()) / 2;
  }
}

void order_layers(Layers& layers, const Neighbours& above, const Neighbours& below) {
  std::vector<double> position(above.size());
  for (auto& layer : layers)
    for (std::size_t i = 0; i < layer.size(); ++i)
      position[layer[i]] = static_cast<double>(i) - static_cast<double>(layer.size()) / 2;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (sweep % 2 == 0)
      for (auto& layer : layers) sort_by_neighbours(layer, above, position);
    else
      for (std::size_t i = layers.size(); i-- > 0;) sort_by_neighbours(layers[i], below, position);
  }
}

}  // namespace

Layout lay_out(const std::vector<Size>& nodes, const Edges& edges) {
  Layout layout;
  layout.centres.resize(nodes.size());
  std::vector<std::size_t> layer = layers_of(nodes.size(), edges);
  Layers layers(nodes.empty() ? 0 : *std::max_element(layer.begin(), layer.end()) + 1);
  for (std::size_t n = 0; n < nodes.size(); ++n) layers[layer[n]].push_back(n);
  Neighbours above(nodes.size()), below(nodes.size());
  for (auto [from, to] : edges) {
    above[to].push_back(from);
    below[from].push_back(to);
  }
  order_layers(layers, above, below);

  std::vector<double> widths;
  for (const auto& row : layers) {
    double width = column_gap * static_cast<double>(std::max<std::size_t>(row.size(), 1) - 1);
    for (std::size_t n : row) width += nodes[n].width;
    widths.push_back(width);
  }
  double widest = widths.empty() ? 0 : *std::max_element(widths.begin(), widths.end());
  double y = margin;
  for (std::size_t row = 0; row < layers.size(); ++row) {
    double height = 0, x = margin + (widest - widths[row]) / 2;
    for (std::size_t n : layers[row]) height = std::max(height, nodes[n].height);
    for (std::size_t n : layers[row]) {
      layout.centres[n] = {x + nodes[n].width / 2, y + height / 2};
      x += nodes[n].width + column_gap;
    }
    y += height + layer_gap;
  }
  layout.size = {widest + 2 * margin, layers.empty() ? 2 * margin : y - layer_gap + margin};
  return layout;
}

}  // namespace tap::driver
