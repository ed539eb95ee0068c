// Windows that are copied one after another (packing.h) overlap along the dim of which each has a point. What the next one
// adds is fetched while this one is used: in each step of the reduction another short row, which no hardware prefetcher
// predicts.
//
//   y[o, i, j] = sum[c, u, v] x[c, i + u - 1, j + v - 1 else 0] * k[o, c, u, v]      a window for each i
//
//   for c in lo.c..hi.c
//     fetch x[c, i + 2, j0 - 1]               row i + 2 of channel c: the first cell that rows j0.. of a register tile read there,
//     fetch x[c, i + 2, j0 + 14]              and the last
//     for u, v …
#include <algorithm>
#include <cstdlib>

#include "backend/lower/lowering.h"
#include "backend/tiles/cache_sets.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::int64_t most_lines = 8;  // of one step

// The axis that the dim moves along, if it is one and nothing moves along it backwards.
std::optional<std::size_t> axis_of(const Access& access, std::size_t dim) {
  std::optional<std::size_t> found;
  const auto& rows = access.projection.start.rows;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    if (rows[axis].coefficients[dim] == 0) continue;
    if (found || std::ranges::any_of(rows[axis].coefficients, [](std::int64_t c) { return c < 0; })) return {};
    found = axis;
  }
  return found;
}

}  // namespace

// The innermost loop around the windows' copies, if each of these has all rows.
std::optional<std::size_t> Lowering::dim_of_next_window(const RegisterTile& tile, const Packing& packing,
                                                        const Extents& extents) const {
  if (packing.windows.empty() || extents.most(op_, *tile.rows) > packing.row_block) return {};
  std::optional<std::size_t> next;
  for (std::size_t d : near_last(dims_with(false)))
    if (d != tile.dim && d != *tile.rows && !is_outside_packing(packing, d)) next = d;
  return next && extents.sizes[*next] > 1 ? next : std::nullopt;
}

// What the window of the dim's next point adds. Pre: the read is not redirected to its copy yet.
std::vector<Lowering::NextWindow> Lowering::next_windows(std::uint32_t read, const RegisterTile& tile,
                                                         std::size_t next) const {
  const Access& access = op_.reads[read];
  const auto& rows = access.projection.start.rows;
  const auto across = axis_of(access, next), along = axis_of(access, *tile.rows);
  const auto cell = static_cast<std::int64_t>(size_of(op_.operands[access.tensor].element));
  const bool far = element_count(op_.operands[access.tensor].shape) > machine_.l2_bytes / cell;
  if (!across || !along || across == along || *along + 1 != rows.size() || !far) return {};
  NextWindow window;
  window.tensor = kernel_.loads[loads_[read]].tensor;
  std::int64_t extent = 1;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    AffineExpr first = over_variables(rows[axis]), last = first;
    for (std::size_t d : dims_with(true)) {
      const std::int64_t c = rows[axis].coefficients[d];
      if (c == 0) continue;
      if (axis != across && axis != along) continue;
      if (axis == across) extent = checked::add(extent, checked::mul(c, extents_.sizes[d] - 1));
      const AffineExpr end = plus(end_of(d), number(-1));
      last = with_value(last, frame_.at[d], end);
      first = with_value(first, frame_.at[d], axis == across ? end : variable(frame_.lo[d]));
    }
    for (AffineExpr* e : {&first, &last})
      if (axis == across) *e = shifted(*e, frame_.at[next], 1);
    window.first.push_back(first);
    window.last.push_back(last);
  }
  for (std::size_t d : dims_with(true))
    if (uses(access, d) && rows[*across].coefficients[d] == 0 && rows[*along].coefficients[d] == 0) window.step = d;
  std::vector<NextWindow> result;
  for (std::int64_t k = std::min(rows[*across].coefficients[next], extent); k-- > 0;) {
    result.push_back(window);
    for (auto* at : {&result.back().first, &result.back().last}) (*at)[*across] = plus((*at)[*across], number(-k));
  }
  return result;
}

// For the rows of a register tile, one step of the reduction dim, or before all steps: a cell of each cache line.
std::vector<Statement> Lowering::prefetch_windows(const RegisterTile& tile, const Part& rows,
                                                  std::optional<std::size_t> step) const {
  std::vector<Statement> result;
  for (const NextWindow& window : next_windows_) {
    if (window.step != step) continue;
    const auto cell = static_cast<std::int64_t>(size_of(kernel_.tensors[window.tensor].type.element));
    const std::int64_t line = machine_.line_bytes / cell;
    const std::int64_t cells = window.last.back().coefficients[frame_.at[*tile.rows]] * (rows.count - 1) + 1;
    auto of_row = [&](std::vector<AffineExpr> at, std::int64_t row, std::int64_t further) {
      for (AffineExpr& e : at)
        e = with_value(std::move(e), frame_.at[*tile.rows], plus(variable(rows.loop.variable), number(row)));
      at.back() = plus(at.back(), number(further));
      result.push_back({Prefetch{window.tensor, std::move(at)}});
    };
    for (std::int64_t k = 0; k < std::min(cells, most_lines * line); k += line) of_row(window.first, 0, k);
    of_row(window.last, rows.count - 1, 0);
  }
  return result;
}

}  // namespace tap::backend
