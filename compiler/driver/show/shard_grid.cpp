#include "compiler/driver/show/shard_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "support/plural.h"

namespace tap::driver {
namespace {

using ir::Range;

constexpr std::size_t most_rows = 24, most_columns = 12, most_slices = 8;
constexpr std::int64_t wide = 60, high = 9;  // of a grid, in letters and lines
constexpr std::size_t longest_label = 14;

// Of the 256 colours of terminals, a search has found these: any two differ by a CIE Lab distance of 20 or more as people
// see them who lack one kind of cones, and as all others do; black letters on them have a contrast of 4.5 or more
// (tests/process/shard_grid_test.py). More devices share them: every box also has its device's number.
constexpr std::array<int, 12> colours{204, 227, 113, 169, 219, 63, 250, 29, 100, 85, 134, 195};

using Devices = std::vector<std::int64_t>;

// 0-3, 6    or all
std::string text_of(const Devices& devices) {
  if (devices.empty()) return "";
  if (devices.front() < 0) return "all";
  std::string text;
  for (std::size_t k = 0; k < devices.size();) {
    std::size_t end = k + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(devices[k]);
    if (end - k > 1) text += (end - k == 2 ? "," : "-") + std::to_string(devices[end - 1]);
    k = end;
  }
  return text.size() <= longest_label ? text : text.substr(0, longest_label - 2) + "..";
}

// The parts of an axis between all boundaries of boxes.
std::vector<Range> parts_of(std::int64_t extent, const std::vector<HeldBox>& held, std::size_t axis) {
  std::set<std::int64_t> bounds{0, extent};
  for (const HeldBox& one : held) {
    if (one.box.empty()) continue;
    bounds.insert(one.box.dims[axis].lo);
    bounds.insert(one.box.dims[axis].hi);
  }
  std::vector<Range> parts;
  for (auto at = bounds.begin(); std::next(at) != bounds.end(); ++at) parts.push_back({*at, *std::next(at)});
  return parts;
}

struct Grid {
  std::vector<Range> rows, columns;
  std::vector<std::vector<Devices>> cells;

  const Devices* at(std::size_t r, std::size_t c) const {
    return r < rows.size() && c < columns.size() ? &cells[r][c] : nullptr;
  }
  // Whether a line separates two neighbours; the numbers of the outside wrap around to no cell.
  bool differ(std::size_t r, std::size_t c, std::size_t r2, std::size_t c2) const {
    const Devices *a = at(r, c), *b = at(r2, c2);
    return !a || !b ? a || b : *a != *b;
  }
};

class Picture {
 public:
  Picture(const Grid& grid, std::size_t rank, bool colour) : grid_(grid), has_rows_(rank > 1), colour_(colour) {
    for (const Range& row : grid.rows)
      if (has_rows_) labels_ = std::max(labels_, to_string(row).size());
    const std::int64_t all = grid.columns.back().hi - grid.columns.front().lo;
    for (std::size_t c = 0; c < grid.columns.size(); ++c) {
      const Range& column = grid.columns[c];
      std::size_t width = static_cast<std::size_t>(wide * column.size() / std::max<std::int64_t>(1, all));
      width = std::max(width, to_string(column).size() + 1);
      for (std::size_t r = 0; r < grid.rows.size(); ++r) width = std::max(width, text_of(grid.cells[r][c]).size() + 2);
      widths_.push_back(width);
    }
  }

  std::string text() const {
    std::string out = std::string(labels_ + 4, ' ');
    for (std::size_t c = 0; c < widths_.size(); ++c)
      out += fmt::format("{:<{}}", to_string(grid_.columns[c]), widths_[c] + 1);
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
    const std::int64_t all = grid_.rows.back().hi - grid_.rows.front().lo;
    for (std::size_t r = 0; r < grid_.rows.size(); ++r) {
      out += rule(r);
      const std::int64_t lines =
          has_rows_ ? std::clamp<std::int64_t>(high * grid_.rows[r].size() / std::max<std::int64_t>(1, all), 1, 3) : 1;
      for (std::int64_t line = 0; line < lines; ++line) out += cells_line(r, line == 0);
    }
    return out + rule(grid_.rows.size());
  }

 private:
  // Above row r.
  std::string rule(std::size_t r) const {
    std::string out(labels_ + 3, ' ');
    for (std::size_t c = 0; c <= widths_.size(); ++c) {
      const bool left = grid_.differ(r - 1, c - 1, r, c - 1), right = grid_.differ(r - 1, c, r, c);
      const bool up = grid_.differ(r - 1, c - 1, r - 1, c), down = grid_.differ(r, c - 1, r, c);
      out += left || right || up || down ? '+' : ' ';
      if (c < widths_.size()) out += std::string(widths_[c], right ? '-' : ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  }

  std::string cells_line(std::size_t r, bool first) const {
    std::string out = fmt::format("  {:<{}} ", first && has_rows_ ? to_string(grid_.rows[r]) : "", labels_);
    for (std::size_t c = 0; c <= widths_.size(); ++c) {
      out += grid_.differ(r, c - 1, r, c) ? '|' : ' ';
      if (c == widths_.size()) break;
      const Devices& devices = grid_.cells[r][c];
      const bool corner = grid_.differ(r, c - 1, r, c) && grid_.differ(r - 1, c, r, c);
      out += painted(fmt::format(" {:<{}}", first && corner ? text_of(devices) : "", widths_[c] - 1), devices);
    }
    return out + "\n";
  }

  std::string painted(const std::string& text, const Devices& devices) const {
    if (!colour_ || devices.empty() || devices.front() < 0) return text;
    return fmt::format("\x1b[48;5;{}m\x1b[30m{}\x1b[0m",
                       colours[static_cast<std::size_t>(devices.front()) % colours.size()], text);
  }

  const Grid& grid_;
  bool has_rows_, colour_;  // without rows, a grid is one line
  std::size_t labels_ = 0;
  std::vector<std::size_t> widths_;
};

// One position on the leading axes.
Grid slice(const std::vector<HeldBox>& held, const std::vector<Range>& leading, std::vector<Range> rows,
           std::vector<Range> columns, std::size_t rank) {
  Grid grid{std::move(rows), std::move(columns), {}};
  for (const Range& row : grid.rows) {
    grid.cells.emplace_back();
    for (const Range& column : grid.columns) {
      std::set<std::int64_t> devices;
      for (const HeldBox& one : held) {
        if (one.box.empty()) continue;
        bool inside = true;
        for (std::size_t a = 0; a < leading.size(); ++a) inside = inside && one.box.dims[a].contains(leading[a]);
        if (rank > 1) inside = inside && one.box.dims[rank - 2].contains(row);
        if (rank > 0) inside = inside && one.box.dims[rank - 1].contains(column);
        if (inside) devices.insert(one.device);
      }
      if (devices.contains(-1)) devices = {-1};
      grid.cells.back().emplace_back(devices.begin(), devices.end());
    }
  }
  return grid;
}

}  // namespace

std::string shard_grid(const Shape& shape, const std::vector<HeldBox>& held, bool colour) {
  const std::size_t rank = shape.size();
  if (std::count(shape.begin(), shape.end(), 0) > 0) return "  it has no cells\n";
  std::vector<std::vector<Range>> parts;
  for (std::size_t a = 0; a < rank; ++a) parts.push_back(parts_of(shape[a], held, a));
  std::vector<Range> rows = rank > 1 ? parts[rank - 2] : std::vector<Range>{{0, 1}};
  std::vector<Range> columns = rank > 0 ? parts[rank - 1] : std::vector<Range>{{0, 1}};
  std::string left;
  auto limit = [&](std::vector<Range>& list, std::size_t most, const char* what) {
    if (list.size() <= most) return;
    left += fmt::format("  {} not shown\n", plural(list.size() - most, what));
    list.resize(most);
  };
  limit(rows, most_rows, "more row");
  limit(columns, most_columns, "more column");
  std::string text;
  std::size_t slices = 0;
  std::vector<Range> leading;
  std::function<void(std::size_t)> visit = [&](std::size_t axis) {
    if (axis + 2 < rank) {
      for (const Range& part : parts[axis]) {
        leading.push_back(part);
        visit(axis + 1);
        leading.pop_back();
      }
      return;
    }
    if (++slices > most_slices) return;
    if (!leading.empty()) {
      text += text.empty() ? "  [" : "\n  [";
      for (const Range& part : leading) text += to_string(part) + ", ";
      text += ":, :]\n";
    }
    text += Picture(slice(held, leading, rows, columns, rank), rank, colour).text();
  };
  visit(0);
  if (slices > most_slices) left += fmt::format("  {} not shown\n", plural(slices - most_slices, "more grid"));
  return text + left;
}

}  // namespace tap::driver
