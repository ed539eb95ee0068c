#include "backend/schedule/copied_boxes.h"

#include <algorithm>
#include <utility>

#include "support/checked.h"

namespace tap::backend {

using namespace ir;

std::vector<Box> written_boxes(const Operator& op, const Projection& projection, const Box& box) {
  std::vector<std::size_t> dims;
  std::int64_t points = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    bool used = std::any_of(projection.start.rows.begin(), projection.start.rows.end(),
                            [&](const AffineExpr& row) { return row.coefficients[d] != 0; });
    if (!used) continue;
    dims.push_back(d);
    points = checked::mul(points, box.dims[d].size());
  }
  Box all = projection.bounds(box);
  // Every cell is written once, so as many cells as the hull has fill the hull.
  if (checked::mul(points, element_count(projection.shape)) >= all.size()) return {all};
  std::vector<Box> result;
  Box point = box;
  for (std::int64_t n = 0; n < points; ++n) {
    std::int64_t rest = n;
    for (std::size_t d : dims) {
      point.dims[d].lo = box.dims[d].lo + rest % box.dims[d].size();
      point.dims[d].hi = point.dims[d].lo + 1;
      rest /= box.dims[d].size();
    }
    result.push_back(projection.bounds(point));
  }
  return result;
}

std::optional<TiledRow> tiles_of(Box all, const Row& row) {
  Row tiles;
  for (auto level = row.rbegin(); level != row.rend(); ++level) {
    std::optional<std::size_t> along;
    for (std::size_t d = 0; d < all.rank(); ++d)
      if (level->steps[d] != 0 && std::exchange(along, d)) return std::nullopt;
    if (!along) continue;
    Range& range = all.dims[*along];
    if (level->steps[*along] != range.size()) return std::nullopt;
    range.hi = checked::add(range.lo, checked::mul(range.size(), level->count));
    tiles.insert(tiles.begin(), *level);
  }
  return TiledRow{std::move(all), std::move(tiles)};
}

}  // namespace tap::backend
