#include "compiler/driver/show/layered_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/driver/show/layout_rows.h"
#include "support/check.h"

namespace tap::driver {
namespace {

constexpr double row_gap = 56;
constexpr double margin = 16;
constexpr double lane = 6;          // between two lines that lead to the next column
constexpr std::size_t bundles = 6;  // of lines that go around all rows, beside a column and above all columns
constexpr double bundle_gap = 4;
constexpr double column_gap = 48;
constexpr double shortest_column = 1200;
constexpr double highest_ratio = 1.6;  // height by width, beyond which a layout is folded
constexpr double widest_ratio = 3;
constexpr int most_attempts = 4;

struct Column {
  std::size_t first = 0, last = 0;  // rows; `last` is not included
  double left = 0, width = 0, height = 0;
  double shift = 0;                          // from the x of the rows to the x of the layout
  std::map<std::size_t, std::size_t> lanes;  // of the lines that lead to the next column, by their node
};

// Cuts the rows into columns of at most this height, or of one row.
std::vector<Column> columns_up_to(const std::vector<double>& heights, double most) {
  std::vector<Column> columns;
  for (std::size_t row = 0; row < heights.size(); ++row) {
    const double grown = columns.empty() ? 0 : columns.back().height + row_gap + heights[row];
    if (columns.empty() || grown > most) columns.push_back({row, row, 0, 0, heights[row], 0, {}});
    else columns.back().height = grown;
    columns.back().last = row + 1;
  }
  return columns;
}

// Cuts the rows into at most `count` columns of about the same height. A limit of an equal share may leave a short
// column over, so the limit grows until none is.
std::vector<Column> cut_columns(const std::vector<double>& heights, double share, std::size_t count) {
  for (double most = share;; most += row_gap) {
    std::vector<Column> columns = columns_up_to(heights, most);
    if (columns.size() <= count) return columns;
  }
}

class Folding {
 public:
  Folding(const std::vector<Size>& nodes, const LayoutEdges& edges, double widest)
      : nodes_(nodes), edges_(edges), rows_(arrange_rows(nodes, edges, widest)) {
    for (const auto& row : rows_.nodes) {
      double height = 0;
      for (std::size_t n : row)
        if (n < nodes.size()) height = std::max(height, nodes[n].height);
      heights_.push_back(height);
    }
    for (auto [from, to] : edges)
      if (goes_around(from, to)) far_rows_[from].push_back(rows_.row[to]);
    for (auto& [n, rows] : far_rows_) {
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    }
  }

  Layout layout() {
    fold();
    Layout out;
    out.columns = std::max<std::size_t>(columns_.size(), 1);
    out.size = size_;
    for (std::size_t n = 0; n < nodes_.size(); ++n) out.centres.push_back({x(n), middle(rows_.row[n])});
    for (std::size_t n = 0; n < nodes_.size(); ++n) out.trunks.push_back(trunk(n));
    for (auto [from, to] : edges_) out.branches.push_back(branch(from, to));
    return out;
  }

 private:
  // The fewest columns that make the layout not much higher than wide.
  void fold() {
    double height = 0;
    for (double h : heights_) height += h + row_gap;
    for (std::size_t count = 1;; ++count) {
      const double most = height / static_cast<double>(count);
      columns_ = cut_columns(heights_, most, count);
      place_columns();
      if (size_.height <= highest_ratio * size_.width || most < 2 * shortest_column) return;
    }
  }

  void place_columns() {
    column_of_.assign(heights_.size(), 0);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      for (std::size_t row = columns_[c].first; row < columns_[c].last; ++row) column_of_[row] = c;
    std::size_t most_lanes = 0;
    const double around = far_rows_.empty() ? 0 : bundle_gap * static_cast<double>(bundles + 1);
    double left = margin, height = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      Column& column = columns_[c];
      double low = 0, high = 0;
      bool first = true;
      for (std::size_t row = column.first; row < column.last; ++row)
        for (std::size_t n : rows_.nodes[row]) {
          const double half = rows_.widths[n] / 2;
          low = first ? rows_.x[n] - half : std::min(low, rows_.x[n] - half);
          high = first ? rows_.x[n] + half : std::max(high, rows_.x[n] + half);
          first = false;
        }
      take_lanes(c);
      left += around;
      column.left = left;
      column.width = high - low;
      column.shift = left - low;
      left += column.width + column_gap + lane * static_cast<double>(column.lanes.size());
      most_lanes = std::max(most_lanes, column.lanes.size());
      height = std::max(height, column.height);
    }
    const double lanes_height = most_lanes == 0 ? 0 : lane * static_cast<double>(most_lanes + 2);
    const double above = margin + lanes_height + (columns_.size() > 1 ? around : 0);
    size_ = {columns_.empty() ? 2 * margin : columns_.back().left + columns_.back().width + margin,
             above + height + lanes_height + margin};
    tops_.assign(heights_.size(), 0);
    for (const Column& column : columns_) {
      double y = above;
      for (std::size_t row = column.first; row < column.last; ++row) {
        tops_[row] = y;
        y += heights_[row] + row_gap;
      }
    }
  }

  // A lane for each node whose edges lead to the next column; the rightmost is the innermost.
  void take_lanes(std::size_t c) {
    Column& column = columns_[c];
    column.lanes.clear();
    if (c + 1 == columns_.size()) return;
    std::vector<std::pair<double, std::size_t>> leaving;
    std::vector<bool> seen(nodes_.size());
    for (auto [from, to] : edges_) {
      if (rows_.row[from] >= column.last || rows_.row[to] < column.last || seen[from]) continue;
      if (goes_around(from, to)) continue;
      seen[from] = true;
      leaving.emplace_back(-rows_.x[at_row(from, column.last - 1)], from);
    }
    std::sort(leaving.begin(), leaving.end());
    for (std::size_t i = 0; i < leaving.size(); ++i) column.lanes[leaving[i].second] = i;
  }

  // The node itself or its passage in this row.
  std::size_t at_row(std::size_t node, std::size_t row) const {
    return row == rows_.row[node] ? node : rows_.passages[node][row - rows_.row[node] - 1];
  }
  // Of an edge that passes rows without a passage: beside all rows, to the gap above its lower node's row.
  bool goes_around(std::size_t from, std::size_t to) const {
    return rows_.row[to] - rows_.row[from] > 1 && rows_.passages[from].empty();
  }
  static double bundle_of(std::size_t n) { return static_cast<double>(n % bundles + 1); }
  double beside(std::size_t n, std::size_t row) const {
    return columns_[column_of_[row]].left - bundle_gap * (bundle_of(n) + 1);
  }
  double above(std::size_t n, std::size_t row) const { return top(row) - lane - bundle_gap * bundle_of(n); }
  double x(std::size_t n) const { return rows_.x[n] + columns_[column_of_[rows_.row[n]]].shift; }
  double top(std::size_t row) const { return tops_[row]; }
  double bottom(std::size_t row) const { return tops_[row] + heights_[row]; }
  double middle(std::size_t row) const { return tops_[row] + heights_[row] / 2; }

  // From the bottom of `row` to the top of the next one, at x of `to`, for an edge from `node`.
  void descend(std::vector<Point>& points, std::size_t node, std::size_t row, double to) const {
    const std::size_t c = column_of_[row];
    if (column_of_[row + 1] != c) {
      const Column& column = columns_[c];
      const double away = lane * static_cast<double>(column.lanes.at(node) + 1);
      const double below = bottom(row) + away + lane, above = top(row + 1) - away - lane;
      const double gutter = column.left + column.width + column_gap / 2 + away - lane;
      points.push_back({points.back().x, below});
      points.push_back({gutter, below});
      points.push_back({gutter, above});
      points.push_back({to, above});
    }
    points.push_back({to, top(row + 1)});
  }

  std::vector<Point> trunk(std::size_t n) const {
    const std::size_t row = rows_.row[n];
    std::vector<Point> points{{x(n), middle(row) + nodes_[n].height / 2}, {x(n), bottom(row)}};
    for (std::size_t passage : rows_.passages[n]) {
      const std::size_t at = rows_.row[passage];
      descend(points, n, at - 1, x(passage));
      points.push_back({x(passage), bottom(at)});
    }
    if (auto far = far_rows_.find(n); far != far_rows_.end()) go_around(points, n, far->second);
    return points;
  }

  // Down beside the column, with a point above each of these rows; from one column to the next above all rows.
  void go_around(std::vector<Point>& points, std::size_t n, const std::vector<std::size_t>& rows) const {
    std::size_t at = rows_.row[n];
    const double below = bottom(at) + lane + bundle_gap * bundle_of(n);
    points.push_back({points.back().x, below});
    points.push_back({beside(n, at), below});
    for (std::size_t row : rows) {
      if (column_of_[row] != column_of_[at]) {
        const double y = margin + bundle_gap * (bundle_of(n) - 1);
        points.push_back({beside(n, at), y});
        points.push_back({beside(n, row), y});
      }
      points.push_back({beside(n, row), above(n, row)});
      at = row;
    }
  }

  Branch branch(std::size_t from, std::size_t to) const {
    const Point end{x(to), middle(rows_.row[to]) - nodes_[to].height / 2};
    if (goes_around(from, to)) {
      const std::size_t row = rows_.row[to];
      const Point leaves{beside(from, row), above(from, row)};
      return {around_points(from, row) - 1, {leaves, {end.x, leaves.y}, {end.x, top(row)}, end}};
    }
    const std::size_t row = rows_.row[to] - 1, last = at_row(from, row);
    Branch out;
    out.points.push_back({x(last), bottom(row)});
    descend(out.points, from, row, end.x);
    out.points.push_back(end);
    out.start = trunk_points(from, row) - 1;
    return out;
  }

  // The number of a trunk's points down to the bottom of `row`.
  std::size_t trunk_points(std::size_t n, std::size_t row) const {
    std::size_t count = 2 + 2 * (row - rows_.row[n]);
    count += 4 * (column_of_[row] - column_of_[rows_.row[n]]);
    return count;
  }
  // The number of its points down to the one above `row`, beside the columns.
  std::size_t around_points(std::size_t n, std::size_t row) const {
    std::size_t count = 4, at = rows_.row[n];
    for (std::size_t far : far_rows_.at(n)) {
      count += column_of_[far] == column_of_[at] ? 1 : 3;
      if (far == row) return count;
      at = far;
    }
    TAP_UNREACHABLE("an edge that goes around leads to one of its node's far rows");
  }

  const std::vector<Size>& nodes_;
  const LayoutEdges& edges_;
  Rows rows_;
  std::map<std::size_t, std::vector<std::size_t>> far_rows_;  // by node: the rows to which its edges go around
  std::vector<double> heights_;                               // by row
  std::vector<double> tops_;                                  // by row
  std::vector<std::size_t> column_of_;
  std::vector<Column> columns_;
  Size size_;
};

}  // namespace

// Edges that pass rows make them wider than their nodes do; then there are fewer nodes in a row.
Layout lay_out(const std::vector<Size>& nodes, const LayoutEdges& edges) {
  double widest = usual_width(nodes);
  Layout layout = Folding(nodes, edges, widest).layout();
  for (int attempt = 1; attempt < most_attempts && layout.size.width > widest_ratio * layout.size.height; ++attempt) {
    widest /= 2;
    layout = Folding(nodes, edges, widest).layout();
  }
  return layout;
}

std::string path_data(const std::vector<Point>& points) {
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point p = points[i];
    if (i == 0) {
      text = fmt::format("M{:.1f} {:.1f}", p.x, p.y);
      continue;
    }
    const Point before = points[i - 1];
    if (before.x == p.x && before.y == p.y) continue;
    if (before.x == p.x || before.y == p.y) {
      text += fmt::format(" L{:.1f} {:.1f}", p.x, p.y);
      continue;
    }
    const double bend = (p.y - before.y) / 2;
    text += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", before.x, before.y + bend, p.x, p.y - bend, p.x,
                        p.y);
  }
  return text;
}

}  // namespace tap::driver
