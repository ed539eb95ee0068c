#include "replay/along.h"

namespace tap::check {

Along along(const ir::Row& levels, std::int64_t first, std::size_t column) {
  Along number{first};
  for (const ir::Level& level : levels) number.steps.push_back(level.steps[column]);
  return number;
}

Along sum(Along a, const Along& b, std::int64_t times) {
  a.first = checked::add(a.first, checked::mul(b.first, times));
  for (std::size_t l = 0; l < a.steps.size(); ++l)
    a.steps[l] = checked::add(a.steps[l], checked::mul(b.steps[l], times));
  return a;
}

ir::Range reach(const ir::Row& levels, const Along& number, std::int64_t size) {
  ir::Range range{number.first, checked::add(number.first, size)};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::int64_t by = checked::mul(number.steps[l], levels[l].count - 1);
    (by < 0 ? range.lo : range.hi) = checked::add(by < 0 ? range.lo : range.hi, by);
  }
  return range;
}

// What goes on by whole multiples of stride * size does not change the digit, what goes on by multiples of the stride does, and
// all else must not carry over into it.
std::optional<Along> digit(const ir::Row& levels, const Along& number, std::int64_t stride, std::int64_t size) {
  Along found{number.first / stride % size}, rest{number.first % stride};
  for (std::int64_t step : number.steps) {
    const bool above = step % checked::mul(stride, size) == 0, here = !above && step % stride == 0;
    found.steps.push_back(here ? step / stride : 0);
    rest.steps.push_back(above || here ? 0 : step);
  }
  const bool fits = ir::Range{0, size}.contains(reach(levels, found)) &&
                    ir::Range{0, stride}.contains(reach(levels, rest));
  return fits ? std::optional(found) : std::nullopt;
}

std::vector<Along> places_in(const ir::Row& row, const ir::Row& levels, const Along& number, Obligation obligation) {
  std::vector<Along> places;
  std::int64_t stride = ir::count_of(row);
  for (const ir::Level& level : row) {
    stride /= level.count;
    std::optional<Along> place = digit(levels, number, stride, level.count);
    expect(obligation, place.has_value(), "a row goes through the members of another in no order");
    places.push_back(std::move(*place));
  }
  return places;
}

Moving moving(const ir::Row& levels, const Box& first) {
  Moving box;
  for (std::size_t d = 0; d < first.rank(); ++d) {
    box.begins.push_back(along(levels, first.dims[d].lo, d));
    box.sizes.push_back(checked::sub(first.dims[d].hi, first.dims[d].lo));
  }
  return box;
}

Moving touched(const ir::Row& levels, const ir::Access& access, const Box& points) {
  Moving box;
  for (std::size_t axis = 0; axis < access.projection.shape.size(); ++axis) {
    const AffineExpr& row = access.projection.start.rows[axis];
    Along begin{least(row, points), std::vector<std::int64_t>(levels.size(), 0)};
    for (std::size_t d = 0; d < points.rank(); ++d)
      if (speaks_of(row, d)) begin = sum(std::move(begin), along(levels, 0, d), row.coefficients[d]);
    const std::int64_t end = checked::add(greatest(row, points), access.projection.shape[axis]);
    box.sizes.push_back(checked::sub(end, begin.first));
    box.begins.push_back(std::move(begin));
  }
  return box;
}

Box reach(const ir::Row& levels, const Moving& box) {
  Box all;
  for (std::size_t d = 0; d < box.sizes.size(); ++d) all.dims.push_back(reach(levels, box.begins[d], box.sizes[d]));
  return all;
}

}  // namespace tap::check
