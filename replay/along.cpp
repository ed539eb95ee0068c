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

namespace {

std::optional<std::vector<std::int64_t>> digits(std::int64_t number, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> found(sizes.size());
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; })) return std::nullopt;
  for (std::size_t k = sizes.size(); k-- > 0; number /= sizes[k]) found[k] = number % sizes[k];
  return number == 0 && std::ranges::all_of(found, [](auto digit) { return digit >= 0; }) ? std::optional(found)
                                                                                          : std::nullopt;
}

}  // namespace

// The first and the last number of a level determine the steps. Digits within their sizes are unique.
std::optional<std::vector<Along>> digits(const ir::Row& levels, const Along& number,
                                         const std::vector<std::int64_t>& sizes) {
  const auto first = digits(number.first, sizes);
  if (!first) return std::nullopt;
  std::vector<Along> found;
  for (std::int64_t digit : *first) found.push_back({digit});
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::int64_t further = levels[l].count - 1;
    const auto last = digits(checked::add(number.first, checked::mul(number.steps[l], further)), sizes);
    if (!last) return std::nullopt;
    std::int64_t step = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      found[k].steps.push_back(further == 0 ? 0 : ((*last)[k] - (*first)[k]) / further);
      step = checked::add(checked::mul(step, sizes[k]), found[k].steps.back());
    }
    if (further > 0 && step != number.steps[l]) return std::nullopt;
  }
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (!ir::Range{0, sizes[k]}.contains(reach(levels, found[k]))) return std::nullopt;
  return found;
}

bool differs(const ir::Row& levels, const Along& number) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // steps, and how often
  for (std::size_t l = 0; l < levels.size(); ++l)
    if (levels[l].count > 1) steps.emplace_back(std::abs(number.steps[l]), levels[l].count - 1);
  std::ranges::sort(steps);
  std::int64_t further = 0;  // the distance that the smaller steps cover
  for (auto [step, times] : steps) {
    if (step <= further) return false;
    further = checked::add(further, checked::mul(step, times));
  }
  return true;
}

std::vector<Along> positions_in(const ir::Row& row, const ir::Row& levels, const Along& number, Obligation obligation) {
  std::vector<std::int64_t> counts;
  for (const ir::Level& level : row) counts.push_back(level.count);
  std::optional<std::vector<Along>> positions = digits(levels, number, counts);
  expect(obligation, positions.has_value(), "a row accesses the members of another row in no regular order");
  return std::move(*positions);
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
      if (uses_dim(row, d)) begin = sum(std::move(begin), along(levels, 0, d), row.coefficients[d]);
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
