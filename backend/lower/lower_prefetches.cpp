// Prefetches: loads of cells before they are needed, where hardware prefetchers do not predict them.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend/lower/lowering.h"
#include "backend/tiles/non_temporal_results.h"
#include "backend/tiles/patterns.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

// The distance in bytes to the access of the variable's next value.
std::int64_t stride_bytes(const TensorType& type, const std::vector<AffineExpr>& at, std::uint32_t variable) {
  std::int64_t stride = static_cast<std::int64_t>(size_of(type.element)), result = 0;
  for (std::size_t axis = at.size(); axis-- > 0; stride = checked::mul(stride, type.shape[axis]))
    result = checked::add(result, checked::mul(std::abs(at[axis].coefficients[variable]), stride));
  return result;
}

// How many steps ahead a step of so many vectors of work prefetches so many lines, of all these steps. Memory that answers many
// requests at a time takes longer for each than for one alone; but it has only so many under way, and lines that arrive too early are
// evicted. What is fetched beyond the last step is not used.
std::int64_t steps_ahead(std::int64_t vectors, std::int64_t lines, std::int64_t all, const Machine& machine) {
  constexpr std::int64_t busy = 3, most_lines = 96, share_beyond = 4;
  const std::int64_t idle = machine.memory_cycles / std::max<std::int64_t>(vectors / 2, 1);
  return std::clamp(std::max(all / share_beyond, idle), std::int64_t{1},
                    std::max<std::int64_t>(std::min(busy * idle, most_lines / lines), 1));
}

}  // namespace

AffineExpr Lowering::with_value(AffineExpr e, std::uint32_t v, const AffineExpr& value) const {
  const std::int64_t factor = std::exchange(e.coefficients[v], 0);
  return plus(std::move(e), value, factor);
}

// The results of a tile that has a short row of them for each lane: a line or two each, far apart.
//
//   for o in o0..o0 + 32
//     fetch y[o, j0]
//     fetch y[o, j0 + 13]
std::vector<Statement> Lowering::prefetch_across(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                                 const Store::Target& target) const {
  const TensorType& type = kernel_.tensors[target.tensor].type;
  const auto cell = static_cast<std::int64_t>(size_of(type.element));
  const bool far = element_count(type.shape) > machine_.l2_bytes / cell;
  if (!far || !is_contiguous_along(target.at, frame_.at[*tile.rows])) return {};
  if (stride_bytes(type, target.at, frame_.at[tile.dim]) < machine_.line_bytes) return {};
  For loop;
  loop.variable = frame_.at[tile.dim];
  loop.lower = {bound(variable(lanes.loop.variable))};
  loop.upper = {
      bound(plus(variable(lanes.loop.variable), number(static_cast<std::int64_t>(tile.lanes) * lanes.count)))};
  if (!lanes.whole) loop.upper.push_back(lanes.loop.upper[0]);
  for (const std::int64_t row : {std::int64_t{0}, static_cast<std::int64_t>(rows.count) - 1}) {
    Prefetch one{target.tensor, target.at};
    for (AffineExpr& e : one.at)
      e = with_value(e, frame_.at[*tile.rows], plus(variable(rows.loop.variable), number(row)));
    loop.body.push_back({std::move(one)});
  }
  return {{std::move(loop)}};
}

// Prefetches the result cells of the next rows, if lanes are contiguous in them, while this tile is computed; otherwise
// the next tile would wait for them. Results that are only written, line by line, need no prefetch. Other results: those of this tile.
std::vector<Statement> Lowering::prefetch_next(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                               bool accumulates_into_result) const {
  if (rows.count < tile.row_count) return {};  // the last rows
  const std::int64_t last_lane = static_cast<std::int64_t>(tile.lanes) * lanes.count - 1;
  std::vector<Statement> each, last, now;
  for (const Store::Target& target : kept(std::vector<CellId>(op_.writes.size())).targets) {
    if (target.tensor == no_tensor) continue;
    if (!is_contiguous_along(target.at, frame_.at[tile.dim])) {
      append(now, prefetch_across(tile, rows, lanes, target));
      continue;
    }
    const TensorType& type = kernel_.tensors[target.tensor].type;
    if (!accumulates_into_result && is_non_temporal(type, machine_)) continue;
    if (!accumulates_into_result && stride_bytes(type, target.at, frame_.at[*tile.rows]) < machine_.page_bytes)
      continue;
    Prefetch first{target.tensor, {}}, end{target.tensor, {}};
    for (const AffineExpr& e : target.at) {
      first.at.push_back(shifted(e, frame_.at[*tile.rows], tile.row_count));
      end.at.push_back(
          with_value(first.at.back(), frame_.at[tile.dim], plus(variable(lanes.loop.variable), number(last_lane))));
    }
    each.push_back({std::move(first)});
    last.push_back({std::move(end)});
  }
  if (each.empty()) return now;
  assume(*tile.rows, 1, 2 * static_cast<std::int64_t>(tile.row_count));  // a second tile is needed to see one
  Guard more;                                                            // whole tiles of this block
  more.conditions.push_back({plus(plus(rows.loop.upper[0].expr, variable(rows.loop.variable), -1),
                                  number(-2 * static_cast<std::int64_t>(tile.row_count))),
                             Comparison::at_least_zero});
  more.body = across(tile, &rows, &lanes, std::move(each));
  append(more.body, over_rows(tile, &rows, std::move(last)));
  now.push_back({std::move(more)});
  return now;
}

// Prefetches reads of later steps, if they are in far memory and each step is in a different page, with too few
// accesses for the hardware prefetcher to predict. Of dims inside the step, which are unrolled, the first point.
std::vector<Statement> Lowering::prefetch_ahead(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                                std::size_t along) const {
  const std::int64_t foreseen = 8 * machine_.line_bytes;
  const std::int64_t steps =
      steps_ahead((rows ? rows->count : 1) * lanes.count, lanes.count, extents_.sizes[along], machine_);
  std::vector<std::size_t> inside = dims_with(true);
  inside.erase(inside.begin(), std::find(inside.begin(), inside.end(), along) + 1);
  std::vector<Statement> result;
  for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands)) {
    if (op_.exprs[id].op != CellOp::read) continue;
    const Load& load = kernel_.loads[loads_[op_.exprs[id].attribute]];
    const TensorType& type = kernel_.tensors[load.tensor].type;
    const auto cell_bytes = static_cast<std::int64_t>(size_of(type.element));
    std::vector<AffineExpr> at;
    bool plain = !kernel_.tensors[load.tensor].local;
    for (const Coordinate& c : load.at) {
      plain = plain && !c.data && !c.checked;
      at.push_back(shifted(c.affine, frame_.at[along], steps));
      for (std::size_t d : inside) at.back() = with_value(at.back(), frame_.at[d], variable(frame_.lo[d]));
    }
    const bool far = element_count(type.shape) > machine_.l2_bytes / cell_bytes;
    if (!plain || !far || stride_bytes(type, at, frame_.at[along]) < machine_.page_bytes) continue;
    const bool by_rows = tile.rows && depends_on(op_, {id}, *tile.rows);
    if (!by_rows && is_contiguous_along(at, frame_.at[tile.dim]) && tile.lanes * tile.vectors * cell_bytes < foreseen) {
      append(result, across(tile, nullptr, &lanes, {{Prefetch{load.tensor, std::move(at)}}}));
    } else if (by_rows && is_contiguous_along(at, frame_.at[*tile.rows]) && !depends_on(op_, {id}, tile.dim)) {
      for (std::int64_t row : {0u, rows->count - 1}) {
        Prefetch one{load.tensor, at};
        for (AffineExpr& e : one.at)
          e = with_value(e, frame_.at[*tile.rows], plus(variable(rows->loop.variable), number(row)));
        result.push_back({std::move(one)});
      }
    }
  }
  return result;
}

// Prefetches what a scan's later steps read, if each step is in a different page: a strip of lanes is too short for the hardware
// prefetcher. The last steps fetch the first ones of the next strip.
//
//   for k in 0..1000                          t = k
//     if k + 6 < 1000: fetch x[t + 6, j]      else fetch x[t + 6 - 1000, j + 256]
std::vector<Statement> Lowering::prefetch_scan(const Scan& scan, bool descending, const RegisterTile& tile,
                                               const Part& lanes) const {
  const std::uint32_t along = frame_.at[scan.along], reduced = frame_.at[scan.reduced];
  const std::int64_t all = extents_.sizes[scan.along], sign = descending ? -1 : 1;
  if (all < 2) return {};
  const std::int64_t steps = sign * steps_ahead(lanes.count, lanes.count, all, machine_);
  const AffineExpr length = plus(variable(frame_.hi[scan.along]), variable(frame_.lo[scan.along]), -1);
  std::vector<Statement> later, next;
  for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands)) {
    if (op_.exprs[id].op != CellOp::read) continue;
    const Load& load = kernel_.loads[loads_[op_.exprs[id].attribute]];
    const TensorType& type = kernel_.tensors[load.tensor].type;
    const bool plain = !kernel_.tensors[load.tensor].local &&
                       std::ranges::none_of(load.at, [](const Coordinate& c) { return c.data || c.checked; });
    const bool far = element_count(type.shape) > machine_.l2_bytes / static_cast<std::int64_t>(size_of(type.element));
    if (!plain || !far) continue;
    Prefetch ahead{load.tensor, {}, true}, beside{load.tensor, {}, true};
    for (const Coordinate& c : load.at) {
      const std::int64_t moves = checked::add(c.affine.coefficients[along], c.affine.coefficients[reduced]);
      ahead.at.push_back(shifted(shifted(c.affine, along, steps), reduced, steps));
      beside.at.push_back(plus(shifted(ahead.at.back(), frame_.at[tile.dim], lanes.count * std::int64_t{tile.lanes}),
                               length, -sign * moves));
    }
    if (!is_contiguous_along(ahead.at, frame_.at[tile.dim])) continue;
    if (stride_bytes(type, ahead.at, along) + stride_bytes(type, ahead.at, reduced) < machine_.page_bytes) continue;
    later.push_back({std::move(ahead)});
    next.push_back({std::move(beside)});
  }
  if (later.empty()) return {};
  const AffineExpr left = descending
                              ? plus(plus(variable(along), variable(frame_.lo[scan.along]), -1), number(steps))
                              : plus(plus(variable(frame_.hi[scan.along]), variable(along), -1), number(-steps - 1));
  std::vector<Statement> result{
      {Guard{{{left, Comparison::at_least_zero}}, {}, across(tile, nullptr, &lanes, std::move(later))}}};
  if (lanes.whole)
    result.push_back({Guard{{{plus(number(-1), left, -1), Comparison::at_least_zero}},
                            {},
                            across(tile, nullptr, &lanes, std::move(next))}});
  return result;
}

}  // namespace tap::backend
