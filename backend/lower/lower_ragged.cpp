// Register tiles whose rows run over different ranges of a reduction dim (ragged_along in register_tile.h): all rows together
// over the range that they have in common, and each row alone before and after it. A row's order stays the same.
//
//   y[i, c] = sum[k in 0..i+1] x[i, k] * v[k, c]
//
//     for k in 0..i0+1 { unroll i in i0 of 6 { … acc[i] = acc[i] + x[i, k] * v[k, c] } }
//     unroll i in i0 of 6 { for k in i0+1..i+1 { … } }
#include <algorithm>
#include <utility>

#include "backend/lower/lowering.h"
#include "ir/operator.h"

namespace tap::backend {

using namespace ir;

std::vector<Statement> Lowering::reduce_ragged(const RegisterTile& tile, const Part& rows, const Part& lanes,
                                               std::size_t along, const Statement& step) {
  const std::uint32_t row = frame_.at[*tile.rows];
  RegisterTile one_row = tile;
  one_row.rows.reset();
  const std::vector<std::size_t> order = dims_with(true);
  const auto at = std::find(order.begin(), order.end(), along);
  const std::vector<std::size_t> before(order.begin(), at), inside(at + 1, order.end());
  std::vector<bool> outside(op_.dims.size(), false);
  for (std::size_t d : dims_with(false)) outside[d] = true;
  for (std::size_t d : before) outside[d] = true;
  std::vector<bool> without_rows = outside, with_along = outside;
  without_rows[*tile.rows] = false;
  with_along[along] = true;

  // The bounds that a row adds, at the first or the last row of the tile: there they are strictest for all.
  const For own = loop(along, outside);
  For common = loop(along, without_rows);
  auto strictest = [&](const std::vector<Bound>& bounds, bool upper, std::vector<Bound>& into) {
    bool any = false;
    for (const Bound& b : bounds) {
      const std::int64_t c = b.expr.coefficients[row];
      if (c == 0) continue;
      const bool first = (c > 0) == upper;
      AffineExpr at_row =
          plus(variable(rows.loop.variable), number(first ? 0 : static_cast<std::int64_t>(rows.count) - 1));
      into.push_back({with_value(b.expr, row, at_row), b.divisor});
      any = true;
    }
    return any;
  };
  const bool starts_differ = strictest(own.lower, false, common.lower),
             ends_differ = strictest(own.upper, true, common.upper);

  std::vector<Statement> parts;
  const AffineExpr from =
      variable(define(parts, "from." + op_.dims[along].name, std::exchange(common.lower, {}), true));
  const AffineExpr end = variable(define(parts, "end." + op_.dims[along].name, std::exchange(common.upper, {}), false));
  common.lower = {bound(from)};
  common.upper = {bound(end)};
  auto add = [&](For over, std::vector<Statement> steps) {
    over.body = nest(inside, with_along, std::move(steps));
    return std::vector<Statement>{{std::move(over)}};
  };
  auto add_by_rows = [&](For over) {
    append(parts, over_rows(tile, &rows, add(std::move(over), across(one_row, nullptr, &lanes, {step}))));
  };
  if (starts_differ) {
    For early = own;
    early.upper.push_back(bound(from));
    add_by_rows(std::move(early));
  }
  append(parts, add(std::move(common), across(tile, &rows, &lanes, {step})));
  if (ends_differ) {
    For late = own;
    late.lower = {bound(from), bound(end)};
    add_by_rows(std::move(late));
  }
  return nest(before, outside, std::move(parts));
}

}  // namespace tap::backend
