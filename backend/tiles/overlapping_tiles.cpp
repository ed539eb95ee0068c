#include "backend/tiles/overlapping_tiles.h"

#include <algorithm>
#include <cstdlib>

#include "ir/graph.h"
#include "ir/machine.h"

namespace tap::backend {

using namespace ir;

namespace {

using Points = std::vector<std::int64_t>;

constexpr double most_bytes = ir::reference_machine.l2_bytes * 0.75;
constexpr double least_gain = 0.02;       // of the work, for twice the points
constexpr std::int64_t least_tiles = 32;  // so that threads have parts of equal work

class Tiles {
 public:
  Tiles(const GroupView& group, const Points& most)
      : group_(group), windows_(moving_demand(group)), most_(most), inside_(group.graph.values.size(), true) {
    for (const auto* list : {&group.graph.inputs, &group.graph.outputs})
      for (ValueId v : *list) inside_[v.index()] = false;
  }

  // Whether points next to each other along some dim compute the same cells.
  bool overlap() const {
    return std::ranges::any_of(windows_.operations,
                               [&](const std::vector<Window>& spans) { return std::ranges::any_of(spans, overlaps); });
  }

  // Of one tile, for each of its points; the last dim of an operation runs in vectors.
  double work(const Points& points) const {
    double cells = 0;
    for (const std::vector<Window>& spans : windows_.operations) {
      double of_one = 1;
      for (std::size_t d = 0; d < spans.size(); ++d)
        of_one *=
            static_cast<double>(length(spans[d], points)) + (d + 1 == spans.size() ? at_ends(spans[d], points) : 0);
      cells += of_one;
    }
    for (std::int64_t n : points) cells /= static_cast<double>(n);
    return cells;
  }

  // At most, of the inner values that one operation reads and writes.
  double bytes(const Points& points) const {
    double most = 0;
    for (const Operation& operation : group_.graph.operations) {
      std::vector<ValueId> values;
      for (const auto* list : {&operation.operands, &operation.results})
        for (ValueId v : *list)
          if (inside_[v.index()] && std::ranges::find(values, v) == values.end()) values.push_back(v);
      double used = 0;
      for (ValueId v : values) {
        std::vector<Window> region = windows_.values[v.index()];
        for (Window& w : region) w.length = length(w, points);
        used += region_bytes(group_.graph[v].type, region);
      }
      most = std::max(most, used);
    }
    return most;
  }

  bool has_few(const Points& points) const {
    std::int64_t tiles = 1;
    for (std::size_t d = 0; d < points.size() && tiles < least_tiles; ++d)
      tiles *= std::max<std::int64_t>((most_[d] + points[d] - 1) / points[d], 1);
    return tiles < least_tiles;
  }

 private:
  // Cells that could be computed in the time that the ends of a row cost: vectors that are not full, and of a part of a row
  // a start in the middle of a page.
  double at_ends(const Window& window, const Points& points) const {
    for (std::size_t g = 0; g < points.size(); ++g)
      if (window.start.coefficients[g] != 0 && points[g] < most_[g]) return 64;
    return 24;
  }

  static std::int64_t length(const Window& window, const Points& points) {
    std::int64_t all = window.length;
    for (std::size_t g = 0; g < points.size(); ++g) all += std::abs(window.start.coefficients[g]) * (points[g] - 1);
    return all;
  }

  const GroupView& group_;
  MovingDemand windows_;
  const Points& most_;
  std::vector<bool> inside_;
};

}  // namespace

bool overlaps(const Window& window) {
  return std::ranges::any_of(window.start.coefficients,
                             [&](std::int64_t by) { return by != 0 && window.length > std::abs(by); });
}

std::vector<std::int64_t> grown_tiles(const GroupView& group, const Points& most, Points points) {
  const Tiles tiles(group, most);
  if (!tiles.overlap()) return points;
  std::vector<std::size_t> dims;  // the last first
  for (std::size_t d = points.size(); d-- > 0;)
    if (group.dims[d].role == DimRole::parallel) dims.push_back(d);
  while (true) {
    const double now = tiles.work(points);
    double least = now * (1 - least_gain);
    Points best;
    for (std::size_t d : dims) {
      Points more = points;
      more[d] = std::min(2 * points[d], most[d]);
      if (more[d] <= points[d] || tiles.bytes(more) > most_bytes || tiles.has_few(more)) continue;
      if (const double work = tiles.work(more); work < least) least = work, best = std::move(more);
    }
    if (best.empty()) return points;
    points = std::move(best);
  }
}

}  // namespace tap::backend
