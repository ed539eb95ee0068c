// Vectors of a map along one dim. If rows of the result begin at whole cache lines, so do all vectors but the first. Where all
// reads lie inside their tensors, they check nothing.
//
//   y[i, j] = x[i, j - 1 else 0] + x[i - 1, j else 0]
//
//   for i
//     let elsewhere = max(min(i - 1, 4095 - i + 1, 0), -1)       -1: this row has checked reads only
//     let to = min(hi_j, 4097, hi_j + 4096*elsewhere)            j inside: 1 to 4097
//     for j0 in lo_j..                        vectors with a check, then those inside, then the others
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend/lower/lowering.h"
#include "backend/tiles/window_rows.h"
#include "ir/graph.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::int64_t fewest_vectors = 4;  // in a row, for parts of it

bool is_multiple_of(const AffineExpr& e, std::int64_t n) {
  return e.offset % n == 0 && std::ranges::all_of(e.coefficients, [n](std::int64_t c) { return c % n == 0; });
}

// Whether rows begin where the cell at coordinate 0, or a multiple of `line`, is.
bool has_whole_lines(const TensorArgument& tensor, std::int64_t line) {
  const Shape& extents = tensor.local ? tensor.local->extents : tensor.type.shape;
  if (extents.size() > 1 && extents.back() % line != 0) return false;
  return !tensor.local || (!extents.empty() && is_multiple_of(tensor.local->origin.back(), line));
}

}  // namespace

// Cells from where a cache line begins in the result to the dim's first point, if all results agree and have whole lines.
std::optional<std::int64_t> Lowering::cells_before_lines(const RegisterTile& tile) const {
  std::optional<std::int64_t> found;
  for (const Access& write : op_.writes) {
    const std::uint32_t result = frame_.results[write.tensor];
    const TensorType& type = op_.results[write.tensor];
    if (result == no_tensor) return {};
    const auto line = static_cast<std::int64_t>(machine_.line_bytes / size_of(type.element));
    const auto& rows = write.projection.start.rows;
    if (!is_contiguous_along(rows, tile.dim) || line % tile.lanes != 0) return {};
    if (!has_whole_lines(kernel_.tensors[result], line)) return {};
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (d != tile.dim && rows.back().coefficients[d] % line != 0) return {};
    const std::int64_t cells = (rows.back().offset % line + line) % line;
    if (found.value_or(cells) != cells) return {};
    found = cells;
  }
  return found;
}

// For all rows at a time, if there are any.
Lowering::Inside Lowering::inside_along(std::size_t dim, const std::vector<std::uint32_t>& reads,
                                        const MapRows* rows) const {
  Inside inside;
  auto add = [](std::vector<Bound>& bounds, Bound one) {
    if (std::ranges::find(bounds, one) == bounds.end()) bounds.push_back(std::move(one));
  };
  for (std::uint32_t read : reads) {
    const Access& access = op_.reads[read];
    for (std::size_t axis = 0; axis < access.projection.start.rows.size(); ++axis) {
      if (!kernel_.loads[loads_[read]].at[axis].checked) continue;
      AffineExpr least = over_variables(access.projection.start.rows[axis]);
      const AffineExpr last = number(op_.operands[access.tensor].shape[axis] - 1);
      const std::int64_t c = std::exchange(least.coefficients[frame_.at[dim]], 0), step = std::abs(c);
      AffineExpr greatest = least;
      if (rows) {
        const std::int64_t by_row = std::exchange(least.coefficients[frame_.at[rows->dim]], 0);
        const AffineExpr first_row = plus(least, variable(rows->first), by_row);
        const AffineExpr last_row = plus(first_row, number(rows->count - 1), by_row);
        least = by_row < 0 ? last_row : first_row, greatest = by_row < 0 ? first_row : last_row;
      }
      // c*d + least >= 0, and c*d + greatest <= last.
      const AffineExpr below = c < 0 ? plus(greatest, last, -1) : scale(least, -1);
      const AffineExpr above = c < 0 ? least : plus(last, greatest, -1);
      if (c == 0) {
        add(inside.elsewhere, bound(least));
        add(inside.elsewhere, bound(above));
      } else {
        add(inside.from, bound(below, step));
        add(inside.to, bound(plus(above, number(step)), step));
      }
    }
  }
  return inside;
}

std::optional<std::uint32_t> Lowering::rows_together(const RegisterTile& tile, const Extents& extents,
                                                     std::size_t dim) const {
  if (op_.dims[dim].role != DimRole::parallel || is_constrained(op_, dim)) return {};
  auto in_memory = [&](std::vector<TensorType> types, const std::vector<std::uint32_t>& tensors) {
    for (std::size_t t = 0; t < types.size(); ++t)
      if (tensors[t] != no_tensor && kernel_.tensors[tensors[t]].local)
        types[t].shape = kernel_.tensors[tensors[t]].local->extents;
    return types;
  };
  const auto count = rows_that_share_loads(op_, tile, dim, in_memory(op_.operands, frame_.operands),
                                           in_memory(op_.results, frame_.results), machine_);
  if (!count || extents.sizes[dim] < *count) return {};
  return count;
}

std::vector<Statement> Lowering::checked_vectors(const RegisterTile& tile, const Extents& extents) {
  return over_parts(parts(extents, tile.dim, tile.vectors, tile.lanes),
                    [&](const Part& lanes) { return one_tile(tile, nullptr, &lanes); });
}

// Rows that share loads together; those left over one by one. Few of many rows need no code of their own for what is inside.
std::vector<Statement> Lowering::map_rows(const RegisterTile& tile, const Extents& extents, std::size_t dim,
                                          std::uint32_t count) {
  constexpr std::int64_t many = 8;  // times the rows that are left over
  RegisterTile all = tile;
  all.rows = dim, all.row_count = count;
  set_grain(all);
  std::vector<Statement> result;
  for (Part& part : parts(extents, dim, 1, count)) {
    append(result, std::move(part.before));
    For loop = std::move(part.loop);
    if (part.whole) {
      const MapRows rows{dim, loop.variable, count};
      loop.body = map_tiles(tile, extents, &rows);
    } else {
      loop.variable = frame_.at[dim];
      loop.step = 1;
      loop.body = extents.sizes[dim] < many * count ? map_tiles(tile, extents, nullptr)
                                                    : checked_vectors(tile, extents);
    }
    result.push_back({std::move(loop)});
  }
  return result;
}

std::vector<Statement> Lowering::row_by_row(const RegisterTile& tile, const MapRows* rows, const Part& lanes) {
  std::vector<Statement> one = one_tile(tile, nullptr, &lanes);
  if (!rows) return one;
  For each;
  each.variable = frame_.at[rows->dim];
  each.lower = {bound(variable(rows->first))};
  each.upper = {bound(plus(variable(rows->first), number(rows->count)))};
  each.body = std::move(one);
  return {{std::move(each)}};
}

std::vector<Statement> Lowering::all_rows(RegisterTile tile, const MapRows* rows, const Part& lanes) {
  if (!rows) return one_tile(tile, nullptr, &lanes);
  tile.rows = rows->dim, tile.row_count = rows->count;
  Part part;
  part.loop.variable = rows->first;
  part.count = rows->count;
  return one_tile(tile, &part, &lanes);
}

// Vectors of one row, or of several. Those with a check are of one row at a time, since they are few.
std::vector<Statement> Lowering::map_tiles(const RegisterTile& tile, const Extents& extents, const MapRows* rows) {
  const std::vector<std::uint32_t> reads = checked_reads();
  const auto before_line = cells_before_lines(tile);
  const std::int64_t lanes = tile.lanes, size = extents.sizes[tile.dim];
  const IndexDim& dim = op_.dims[tile.dim];
  const bool is_local = std::ranges::any_of(  // a part, which begins anywhere
      frame_.results, [&](std::uint32_t t) { return t != no_tensor && kernel_.tensors[t].local.has_value(); });
  const bool is_aligned = !before_line || (!is_local && (dim.range.lo + *before_line) % lanes == 0);
  if (size < fewest_vectors * lanes || (reads.empty() && is_aligned))
    return over_parts(parts(extents, tile.dim, tile.vectors, tile.lanes), [&](const Part& lanes) {
      return lanes.whole ? all_rows(tile, rows, lanes) : row_by_row(tile, rows, lanes);
    });

  std::vector<Statement> result;
  auto part = [&](AffineExpr from, AffineExpr to, bool whole) {
    Part one;
    one.loop.variable = new_variable(dim.name + "0");
    one.loop.lower = {bound(std::move(from))};
    one.loop.upper = {bound(std::move(to))};
    one.loop.step = lanes;
    one.whole = whole;
    return one;
  };
  auto add = [&](Part one, std::vector<Statement> body) {
    one.loop.body = std::move(body);
    result.push_back({std::move(one.loop)});
  };
  auto let = [&](const char* name, std::vector<Bound> bounds, bool greatest) {
    return variable(define(result, name + dim.name, std::move(bounds), greatest));
  };
  assume(tile.dim, 1, fewest_vectors * lanes);
  AffineExpr first = variable(frame_.lo[tile.dim]);
  const AffineExpr end = variable(frame_.hi[tile.dim]);
  if (!is_aligned) {
    const AffineExpr line = let("line.", {bound(plus(first, number(*before_line)), lanes)}, true);
    const AffineExpr aligned = let("first.", {bound(plus(number(-*before_line), line, lanes)), bound(end)}, false);
    const Part head = part(first, aligned, false);
    add(head, row_by_row(tile, rows, head));
    first = aligned;
  }
  AffineExpr to = end, begin = first;  // of what is inside
  if (!reads.empty()) {
    Inside inside = inside_along(tile.dim, reads, rows);
    inside.from.push_back(bound(first)), inside.to.push_back(bound(end));
    if (!inside.elsewhere.empty()) {
      inside.elsewhere.push_back(bound(number(0)));
      const AffineExpr least = let("least.", std::move(inside.elsewhere), false);
      const AffineExpr outside = let("outside.", {bound(least), bound(number(-1))}, true);
      inside.to.push_back(bound(plus(end, outside, dim.range.size())));
    }
    begin = let("from.", std::move(inside.from), true);
    to = let("to.", std::move(inside.to), false);
  }
  AffineExpr whole = let("w.", {bound(plus(to, first, -1), lanes)}, false);
  whole = let("whole.", {bound(whole), bound(number(0))}, true);
  AffineExpr middle = first;
  if (!reads.empty()) {
    const AffineExpr leading = let("l.", {bound(plus(begin, first, -1), lanes)}, true);
    middle = plus(first, let("leading.", {bound(leading), bound(whole)}, false), lanes);
    const Part checked = part(first, middle, true);
    add(checked, row_by_row(tile, rows, checked));
  }
  const AffineExpr rest = plus(first, whole, lanes);
  const Part inner = part(middle, rest, true);
  add(inner, unchecked(reads, [&] { return all_rows(tile, rows, inner); }));
  const Part last = part(rest, end, false);
  add(last, row_by_row(tile, rows, last));
  return result;
}

}  // namespace tap::backend
