#include "compiler/driver/show/layout_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>

namespace tap::driver {
namespace {

constexpr double passage_width = 2;
constexpr double passage_gap = 5;
constexpr double narrowest_row = 1200;
constexpr int order_sweeps = 8;
constexpr int position_sweeps = 9;

using Neighbours = std::vector<std::vector<std::size_t>>;

// Orders a row by the mean position of each node's neighbours in `neighbours`.
void sort_by_neighbours(std::vector<std::size_t>& row, const Neighbours& neighbours, std::vector<double>& position) {
  std::vector<std::pair<double, std::size_t>> barycentres;
  barycentres.reserve(row.size());
  for (std::size_t n : row) {
    double sum = 0;
    for (std::size_t other : neighbours[n]) sum += position[other];
    barycentres.emplace_back(neighbours[n].empty() ? position[n] : sum / static_cast<double>(neighbours[n].size()), n);
  }
  std::stable_sort(barycentres.begin(), barycentres.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = barycentres[i].second;
    position[row[i]] = static_cast<double>(i) - static_cast<double>(row.size()) / 2;
  }
}

void order_rows(Rows& rows, const Neighbours& above, const Neighbours& below) {
  std::vector<double> position(above.size());
  for (auto& row : rows.nodes)
    for (std::size_t i = 0; i < row.size(); ++i)
      position[row[i]] = static_cast<double>(i) - static_cast<double>(row.size()) / 2;
  for (int sweep = 0; sweep < order_sweeps; ++sweep) {
    if (sweep % 2 == 0)
      for (auto& row : rows.nodes) sort_by_neighbours(row, above, position);
    else
      for (std::size_t i = rows.nodes.size(); i-- > 0;) sort_by_neighbours(rows.nodes[i], below, position);
  }
}

double distance(const Rows& rows, std::size_t left, std::size_t right, std::size_t count) {
  const double gap = left >= count || right >= count ? passage_gap : node_gap;
  return (rows.widths[left] + rows.widths[right]) / 2 + gap;
}

// An edge from a node that reads nothing pulls little: an input may be far to the side of the chain that reads it.
constexpr double weight_of_input = 0.02;

struct Wish {
  double x = 0, weight = 0;
};

// The weighted mean of a node's neighbours; where it is, if it has none.
Wish wish_of(const Rows& rows, std::size_t n, const Neighbours& above, const Neighbours& below) {
  Wish wish;
  auto pull = [&](std::size_t upper, std::size_t other) {
    const double weight = above[upper].empty() ? weight_of_input : 1;
    wish.x += rows.x[other] * weight;
    wish.weight += weight;
  };
  for (std::size_t upper : above[n]) pull(upper, upper);
  for (std::size_t lower : below[n]) pull(n, lower);
  if (wish.weight == 0) return {rows.x[n], weight_of_input};
  return {wish.x / wish.weight, wish.weight};
}

// Moves each node of a row to where it wishes to be, as far as the distances between nodes allow: the positions with
// the least weighted sum of squared differences. After the distances are subtracted, this is an isotonic regression.
void place_row(Rows& rows, const std::vector<std::size_t>& row, const Neighbours& above, const Neighbours& below,
               std::size_t count) {
  struct Run {
    double sum = 0, weight = 0;
    std::size_t size = 0;
    double mean() const { return sum / weight; }
  };
  std::vector<double> offsets;
  std::vector<Run> runs;
  double offset = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) offset += distance(rows, row[i - 1], row[i], count);
    offsets.push_back(offset);
    const Wish wish = wish_of(rows, row[i], above, below);
    runs.push_back({(wish.x - offset) * wish.weight, wish.weight, 1});
    while (runs.size() > 1 && runs[runs.size() - 2].mean() >= runs.back().mean()) {
      const Run last = runs.back();
      runs.pop_back();
      runs.back() = {runs.back().sum + last.sum, runs.back().weight + last.weight, runs.back().size + last.size};
    }
  }
  std::size_t i = 0;
  for (const Run& run : runs)
    for (std::size_t k = 0; k < run.size; ++k, ++i) rows.x[row[i]] = offsets[i] + run.mean();
}

// How far to the right a row must move so that its nodes are below the nodes that they read: the median. Inputs follow
// their readers, so they count only where nothing else does, and passages after them. So a chain begins straight,
// whatever is beside it; sweeps only even out what is near.
double shift_below(const Rows& rows, const std::vector<std::size_t>& row, const Neighbours& above, std::size_t count) {
  std::array<std::vector<double>, 3> shifts;  // below operations, below inputs, of passages
  for (std::size_t n : row)
    for (std::size_t upper : above[n]) {
      const bool passage = n >= count || upper >= count;
      shifts[passage ? 2 : above[upper].empty() ? 1 : 0].push_back(rows.x[upper] - rows.x[n]);
    }
  for (std::vector<double>& some : shifts) {
    if (some.empty()) continue;
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>((some.size() - 1) / 2);
    std::nth_element(some.begin(), middle, some.end());
    return *middle;
  }
  return 0;
}

// Each row around x = 0, then below the row that it reads from. Where row after row moves the same way, they stop at the
// width of the widest one: a long graph goes down, not aside.
void place_rows(Rows& rows, const Neighbours& above, const Neighbours& below, std::size_t count) {
  double widest = 0;
  for (const auto& row : rows.nodes) {
    double x = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) x += distance(rows, row[i - 1], row[i], count);
      rows.x[row[i]] = x;
    }
    for (std::size_t n : row) rows.x[n] -= x / 2;
    widest = std::max(widest, x);
  }
  for (const auto& row : rows.nodes) {
    const double shift = std::clamp(shift_below(rows, row, above, count), -widest, widest);
    for (std::size_t n : row) rows.x[n] += shift;
  }
  for (int sweep = 0; sweep < position_sweeps; ++sweep) {
    if (sweep % 2 == 0)
      for (const auto& row : rows.nodes) place_row(rows, row, above, below, count);
    else
      for (std::size_t i = rows.nodes.size(); i-- > 0;) place_row(rows, rows.nodes[i], above, below, count);
  }
}

// Passages for every node whose edges pass rows, the fewest first, while there are not too many.
void add_passages(Rows& rows, const std::vector<std::size_t>& last_row, std::size_t count) {
  rows.passages.resize(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  auto passed = [&](std::size_t n) { return last_row[n] > rows.row[n] ? last_row[n] - rows.row[n] - 1 : 0; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return passed(a) < passed(b); });
  for (std::size_t n : order) {
    if (passed(n) > most_passages - (rows.row.size() - count)) return;
    for (std::size_t row = rows.row[n] + 1; row < last_row[n]; ++row) {
      rows.passages[n].push_back(rows.row.size());
      rows.nodes[row].push_back(rows.row.size());
      rows.row.push_back(row);
      rows.widths.push_back(passage_width);
    }
  }
}

}  // namespace

double usual_width(const std::vector<Size>& nodes) {
  double area = 0;
  for (const Size& size : nodes) area += (size.width + node_gap) * (size.height + 2 * node_gap);
  return std::max(narrowest_row, 1.5 * std::sqrt(area));
}

std::vector<std::size_t> row_of_nodes(const std::vector<Size>& nodes, const LayoutEdges& edges, double widest) {
  const std::size_t count = nodes.size();
  Neighbours below(count);
  std::vector<std::size_t> waiting(count), order;
  for (auto [from, to] : edges) {
    below[from].push_back(to);
    ++waiting[to];
  }
  std::vector<bool> source(count);
  for (std::size_t n = 0; n < count; ++n)
    if (waiting[n] == 0) {
      source[n] = !below[n].empty();
      order.push_back(n);
    }
  std::vector<std::int64_t> row(count);
  std::map<std::int64_t, double> used;  // the width that is taken, by row
  auto take = [&](std::size_t n, std::int64_t from, std::int64_t step) {
    const double width = nodes[n].width + node_gap;
    while (used[from] > 0 && used[from] + width > widest) from += step;
    used[from] += width;
    row[n] = from;
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t n = order[i];
    if (!source[n]) take(n, row[n], 1);
    for (std::size_t to : below[n]) {
      row[to] = std::max(row[to], source[n] ? 1 : row[n] + 1);
      if (--waiting[to] == 0) order.push_back(to);
    }
  }
  // A node without predecessors is directly above its first user.
  for (std::size_t n = 0; n < count; ++n) {
    if (!source[n]) continue;
    std::int64_t first = row[below[n][0]];
    for (std::size_t to : below[n]) first = std::min(first, row[to]);
    take(n, first - 1, -1);
  }
  std::map<std::int64_t, std::size_t> number;  // of the rows that have nodes
  for (std::size_t n = 0; n < count; ++n) number[row[n]] = 0;
  std::size_t next = 0;
  for (auto& [at, index] : number) index = next++;
  std::vector<std::size_t> rows;
  rows.reserve(count);
  for (std::size_t n = 0; n < count; ++n) rows.push_back(number[row[n]]);
  return rows;
}

Rows arrange_rows(const std::vector<Size>& nodes, const LayoutEdges& edges, double widest) {
  const std::size_t count = nodes.size();
  Rows rows;
  rows.row = row_of_nodes(nodes, edges, widest);
  rows.nodes.resize(count == 0 ? 0 : *std::max_element(rows.row.begin(), rows.row.end()) + 1);
  for (std::size_t n = 0; n < count; ++n) rows.nodes[rows.row[n]].push_back(n);
  for (const Size& size : nodes) rows.widths.push_back(size.width);
  std::vector<std::size_t> last_row(rows.row);
  for (auto [from, to] : edges) last_row[from] = std::max(last_row[from], rows.row[to]);
  add_passages(rows, last_row, count);

  Neighbours above(rows.row.size()), below(rows.row.size());
  auto join = [&](std::size_t upper, std::size_t lower) {
    below[upper].push_back(lower);
    above[lower].push_back(upper);
  };
  for (std::size_t n = 0; n < count; ++n)
    for (std::size_t i = 0; i < rows.passages[n].size(); ++i)
      join(i == 0 ? n : rows.passages[n][i - 1], rows.passages[n][i]);
  for (auto [from, to] : edges) {
    const std::size_t passed = rows.row[to] - rows.row[from] - 1;
    if (passed == 0) join(from, to);
    else if (!rows.passages[from].empty()) join(rows.passages[from][passed - 1], to);
  }
  order_rows(rows, above, below);
  rows.x.resize(rows.row.size());
  place_rows(rows, above, below, count);
  return rows;
}

}  // namespace tap::driver
