// Spans of index dims and axes, in two forms with the same operations: ranges, for one box of a group's dims, and
// windows, which move with a point. Images and preimages of spans under the rows of projections.
//
//   row 2*i + r over i, r;  i in 3..5, r in 0..2       image 6..10
//   cells 6..7, r in 0..2                              preimage of i: 3..4
#pragma once

#include <algorithm>

#include "ir/graphs/demand.h"
#include "support/checked.h"

namespace tap::ir::spans {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return checked::sub(0, checked::floor_div(checked::sub(0, a), b));
}

// The values i with  lo <= c * i < hi.
inline Range solve(std::int64_t c, Range values) {
  std::int64_t last = values.hi - 1;
  if (c > 0) return {ceil_div(values.lo, c), checked::floor_div(last, c) + 1};
  return {ceil_div(last, c), checked::floor_div(values.lo, c) + 1};
}

// Spans that are ranges, for one box of the group's dims.
struct Ranges {
  using Span = Range;
  const Box& box;

  Range variable(std::uint32_t dim) const { return box.dims[dim]; }
  Range whole(Range range) const { return range; }
  bool empty(const Range& span) const { return span.empty(); }
  Range clip(const Range& span, Range range) const { return intersect(span, range); }
  Range hull(const Range& a, const Range& b, Range) const { return tap::ir::hull(a, b); }
  Range narrower(const Range& a, const Range& b) const { return intersect(a, b); }
  bool misses(Range a, const Range& b) const { return intersect(a, b).empty(); }

  // The image of the spans under a row that is the start of a region of this extent.
  Range image(const AffineExpr& row, std::int64_t extent, const std::vector<Range>& spans, Range) const {
    Range starts = row.bounds(Box{spans});
    if (starts.empty() || extent <= 0) return {starts.lo, starts.lo};
    return {starts.lo, checked::add(starts.hi - 1, extent)};
  }

  // The values of `dim` for which the row may meet `need` while the other dims are in `spans`.
  std::optional<Range> preimage(const AffineExpr& row, std::int64_t extent, Range need, std::size_t dim,
                                std::vector<Range> spans) const {
    spans[dim] = {0, 1};
    Range others = row.bounds(Box{std::move(spans)});
    if (others.empty() || need.empty()) return Range{0, 0};
    Range values{checked::sub(checked::sub(need.lo, extent - 1), others.hi - 1), checked::sub(need.hi, others.lo)};
    return solve(row.coefficients[dim], values);
  }
};

// Spans that are windows, for any point of the group's dims.
struct Windows {
  using Span = Window;
  std::size_t dims;

  Window variable(std::uint32_t dim) const { return {AffineExpr::variable(dims, dim), 1}; }
  Window whole(Range range) const { return {AffineExpr::constant(dims, range.lo), range.size()}; }
  bool empty(const Window& span) const { return span.length <= 0; }
  Window clip(const Window& span, Range range) const {
    if (span.moves()) return span;
    Range clipped = intersect({span.start.offset, checked::add(span.start.offset, span.length)}, range);
    return whole(clipped);
  }
  Window hull(const Window& a, const Window& b, Range range) const {
    if (empty(a)) return b;
    if (empty(b)) return a;
    if (a.start.coefficients != b.start.coefficients) return whole(range);
    Range both = tap::ir::hull(Range{a.start.offset, checked::add(a.start.offset, a.length)},
                               {b.start.offset, checked::add(b.start.offset, b.length)});
    Window result = a;
    result.start.offset = both.lo;
    result.length = both.size();
    return result;
  }
  Window narrower(const Window& a, const Window& b) const { return a.moves() && a.length <= b.length ? a : b; }
  bool misses(Range, const Window&) const { return false; }

  // Two spans that move in opposite directions in one row cancel out: over a box of points the row then covers more
  // than the windows of the points show, so the whole range is taken.
  Window image(const AffineExpr& row, std::int64_t extent, const std::vector<Window>& spans, Range whole_range) const {
    Window result{AffineExpr::constant(dims, row.offset), extent};
    for (std::size_t d = 0; d < spans.size(); ++d) {
      std::int64_t c = row.coefficients[d];
      if (c == 0) continue;
      if (empty(spans[d])) return {AffineExpr::constant(dims, 0), 0};
      AffineExpr moved = scale(spans[d].start, c);
      for (std::size_t g = 0; g < dims; ++g)
        if ((moved.coefficients[g] > 0 && result.start.coefficients[g] < 0) ||
            (moved.coefficients[g] < 0 && result.start.coefficients[g] > 0))
          return whole(whole_range);
      result.start = result.start + moved;
      std::int64_t reach = checked::mul(c, spans[d].length - 1);
      if (c < 0) result.start.offset = checked::add(result.start.offset, reach);
      result.length = checked::add(result.length, c < 0 ? checked::sub(0, reach) : reach);
    }
    return result;
  }

  // Affine if the dim's coefficient divides the coefficients of the window's start, and the row's other dims do not
  // move.
  std::optional<Window> preimage(const AffineExpr& row, std::int64_t extent, const Window& need, std::size_t dim,
                                 const std::vector<Window>& spans) const {
    std::int64_t c = row.coefficients[dim], least = row.offset, most = row.offset;
    if (empty(need)) return Window{AffineExpr::constant(dims, 0), 0};
    for (std::int64_t n : need.start.coefficients)
      if (n % c != 0) return std::nullopt;
    for (std::size_t d = 0; d < spans.size(); ++d) {
      std::int64_t factor = row.coefficients[d];
      if (d == dim || factor == 0) continue;
      if (spans[d].moves()) return std::nullopt;
      if (empty(spans[d])) return Window{AffineExpr::constant(dims, 0), 0};
      std::int64_t first = checked::mul(factor, spans[d].start.offset);
      std::int64_t last = checked::mul(factor, checked::add(spans[d].start.offset, spans[d].length - 1));
      least = checked::add(least, std::min(first, last));
      most = checked::add(most, std::max(first, last));
    }
    // c * i  is in  need - others - (extent - 1) .. need - others;  need moves by multiples of c.
    Range values{checked::sub(checked::sub(need.start.offset, extent - 1), most),
                 checked::sub(checked::add(need.start.offset, need.length), least)};
    Range solution = solve(c, values);
    Window result{AffineExpr::constant(dims, solution.lo), solution.size()};
    for (std::size_t g = 0; g < dims; ++g) result.start.coefficients[g] = need.start.coefficients[g] / c;
    // A point may need only cells between those that are written, and so nothing; a box of points needs them.
    if (result.moves()) result.length = std::max<std::int64_t>(result.length, 1);
    return result;
  }
};

}  // namespace tap::ir::spans
