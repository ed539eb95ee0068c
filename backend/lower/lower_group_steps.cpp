// The loops over tiles and steps of a group, and the ranges of dims and axes in one of them, as functions of the loop
// variables.
#include <algorithm>
#include <cmath>

#include "backend/lower/lower_group.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

For GroupLowering::part_loop(const std::string& name, const DimSpan& span, std::int64_t step) {
  For loop;
  loop.variable = new_variable(name);
  loop.lower = {bound(span.lo)};
  loop.upper = {bound(span.hi)};
  loop.step = step;
  return loop;
}

// This many points from `first`, or the remaining ones.
DimSpan GroupLowering::part_of(const DimSpan& span, const AffineExpr& first, std::int64_t points,
                               const std::string& name, std::vector<Statement>& into) {
  DimSpan part{first, plus(first, number(points)), points, span.exact && span.most % points == 0, span.level};
  assume(steps_, span.follows, part.exact ? points : 1, points);
  if (!part.exact) part.hi = variable(define(into, "end." + name, {bound(part.hi), bound(span.hi)}, false));
  return part;
}

void GroupLowering::open_tiles() {
  for (std::size_t d = 0; d < spans_.size(); ++d) {
    const IndexDim& dim = group_.dims[d];
    if (dim.role != DimRole::parallel || points_[d] >= spans_[d].most) continue;
    Tile tile{part_loop(dim.name + "t", spans_[d], points_[d]), {}, d};
    spans_[d] = part_of(spans_[d], variable(tile.loop.variable), points_[d], dim.name, tile.before);
    tiles_.push_back(std::move(tile));
  }
}

// Innermost first, with what follows each tile: variables that are defined from its first point. Those of steps follow all.
std::vector<Lowering::TileLoop> GroupLowering::tile_loops() const {
  std::vector<Lowering::TileLoop> result;
  for (std::size_t t = tiles_.size(); t-- > 0;) {
    const For& loop = tiles_[t].loop;
    std::vector<bool> moves(kernel_.variables.size(), false);
    moves[loop.variable] = true;
    for (std::size_t k = 1; k < levels_.size(); ++k) moves[levels_[k].loop.variable] = true;
    const auto follow = [&](const std::vector<Statement>& statements) {
      for (const Statement& statement : statements) {
        if (const auto* let = std::get_if<Let>(&statement.node)) moves[let->variable] = true;
        const auto* define = std::get_if<Define>(&statement.node);
        if (!define) continue;
        for (const Bound& b : define->bounds)
          for (std::size_t v = 0; v < b.expr.coefficients.size(); ++v)
            if (b.expr.coefficients[v] != 0 && moves[v]) moves[define->variable] = true;
      }
    };
    for (const Tile& tile : tiles_) follow(tile.before);
    for (const Level& level : levels_) follow(level.before);
    result.push_back({loop.variable, loop.lower[0].expr, std::move(moves)});
  }
  return result;
}

// Block dims first, then steps with as many points of the other dims as fit.
void GroupLowering::open_steps() {
  auto open = [&](std::size_t d, std::int64_t step) {
    levels_.push_back({part_loop(group_.dims[d].name + "s", spans_[d], step), {}, {}});
    return levels_.back().loop.variable;
  };
  std::vector<bool> streamed(spans_.size(), false);
  for (std::uint32_t d = 0; d < spans_.size(); ++d) {
    if (group_.dims[d].role != DimRole::reduction || !is_block_dim(group_, d)) continue;
    AffineExpr number_of_block = variable(open(d, 1));
    spans_[d] = {number_of_block, plus(number_of_block, number(1)), 1, true, levels_.size() - 1};
  }
  for (const Blocking& b : group_.blockings) {
    bool streams = group_.dims[b.block_dim].role == DimRole::reduction;
    if (streams || streamed[b.dim])
      open_block(b);  // blocks that are not streamed are part of the box, if they come first
    streamed[b.dim] = streamed[b.dim] || streams;
  }
  for (std::uint32_t d = 0; d < spans_.size(); ++d) {
    if (group_.dims[d].role != DimRole::reduction || streamed[d] || is_block_dim(group_, d)) continue;
    if (points_[d] >= spans_[d].most) continue;
    std::uint32_t first = open(d, points_[d]);
    spans_[d] = part_of(spans_[d], variable(first), points_[d], group_.dims[d].name, levels_.back().before);
    spans_[d].level = levels_.size() - 1;
  }
}

// The block of the dim with the number in its block dim. Equal blocks have the size of those of the largest range, so
// that their starts are affine.
void GroupLowering::open_block(const Blocking& blocking) {
  DimSpan& span = spans_[blocking.dim];
  const DimSpan& block = spans_[blocking.block_dim];
  const std::size_t level = std::max(span.level, block.level);
  assume(steps_, span.follows, 0, 1);
  assume(steps_, block.follows, 0, 1);
  const std::string& name = group_.dims[blocking.dim].name;
  std::vector<Statement>& into = levels_[level].before;
  if (!blocking.blocks.boundaries.empty()) {
    DimSpan part{span.lo, span.hi, 0, false, level};
    const auto& b = blocking.blocks.boundaries;
    for (std::size_t n = 0; n + 1 < b.size(); ++n) part.most = std::max(part.most, b[n + 1] - b[n]);
    part.most = std::min(part.most, span.most);
    AffineExpr from = variable(boundary(blocking, 0, into)), to = variable(boundary(blocking, 1, into));
    part.lo = variable(define(into, "from." + name, {bound(from), bound(span.lo)}, true));
    part.hi = variable(define(into, "end." + name, {bound(to), bound(span.hi)}, false));
    span = part;
    return;
  }
  const std::int64_t count = blocking.blocks.count;
  const std::int64_t points = std::max<std::int64_t>((span.most + count - 1) / count, 1);
  AffineExpr first = plus(span.lo, block.lo, points);
  DimSpan whole = span;
  whole.exact = span.exact && points * count == span.most;
  span = part_of(whole, first, points, name, into);
  span.level = level;
}

// Where the block begins, or ends, from a table.
std::uint32_t GroupLowering::boundary(const Blocking& blocking, std::size_t shift, std::vector<Statement>& into) {
  CellExprs& exprs = kernel_.exprs;
  AffineExpr at = spans_[blocking.block_dim].lo;
  at.coefficients.resize(kernel_.variables.size());
  auto v = at.as_variable();
  TAP_CHECK(v, "the number of a block is a variable");
  CellId which = exprs.index(static_cast<std::uint32_t>(*v));
  const auto& b = blocking.blocks.boundaries;
  CellId value = exprs.constant(Scalar::integer(ElementType::i64, b.back()));
  for (std::size_t n = b.size() - 1; n-- > 0;) {
    CellId is_block =
        exprs.apply(CellOp::equal, ElementType::boolean,
                    {which, exprs.constant(Scalar::integer(ElementType::i64, static_cast<std::int64_t>(n)))});
    CellId its = exprs.constant(Scalar::integer(ElementType::i64, b[n + shift]));
    value = exprs.apply(CellOp::select, ElementType::i64, {is_block, its, value});
  }
  std::uint32_t result = new_variable((shift == 0 ? "first." : "last.") + group_.dims[blocking.dim].name);
  into.push_back({Let{result, value}});
  return result;
}

// The window from the first to the last point of the tile and step, clipped to `whole`.
DimSpan GroupLowering::span_of(const Window& window, Range whole, const std::string& name) {
  DimSpan span{number(window.start.offset), number(checked::add(window.start.offset, window.length)), window.length,
               true, 0};
  if (window.length <= 0) return {span.lo, span.lo, 0, true, 0};
  for (std::size_t g = 0; g < spans_.size(); ++g) {
    std::int64_t c = window.start.coefficients[g];
    if (c == 0) continue;
    AffineExpr last = plus(spans_[g].hi, number(-1));
    span.lo = plus(span.lo, c > 0 ? spans_[g].lo : last, c);
    span.hi = plus(span.hi, c > 0 ? last : spans_[g].lo, c);
    span.most = checked::add(span.most, checked::mul(std::abs(c), std::max<std::int64_t>(spans_[g].most, 1) - 1));
    span.exact = span.exact && spans_[g].exact;
    span.level = std::max(span.level, spans_[g].level);
    span.follows.insert(span.follows.end(), spans_[g].follows.begin(), spans_[g].follows.end());
  }
  span.most = std::min(span.most, whole.size());
  if (whole.contains(window.bounds(group_.box()))) return span;
  span.exact = false;
  std::vector<Statement>& into = levels_[span.level].before;
  span.lo = variable(define(into, "lo." + name, {bound(span.lo), bound(number(whole.lo))}, true));
  span.hi = variable(define(into, "hi." + name, {bound(span.hi), bound(number(whole.hi))}, false));
  return span;
}

// The part of the span that is needed at some point of the tile. It is empty if none is.
DimSpan GroupLowering::needed_part(DimSpan span, const NeededRange& needed, const std::string& name) {
  if (!needed.lo && !needed.hi) return span;
  // A bound that is increasing in a dim is least at its first point.
  auto at_end = [&](const AffineExpr& e, bool greatest) {
    AffineExpr result = number(e.offset);
    for (std::size_t g = 0; g < spans_.size(); ++g) {
      const std::int64_t c = e.coefficients[g];
      if (c == 0) continue;
      result = plus(result, (c > 0) == greatest ? plus(spans_[g].hi, number(-1)) : spans_[g].lo, c);
      span.follows.insert(span.follows.end(), spans_[g].follows.begin(), spans_[g].follows.end());
    }
    return result;
  };
  auto is_known = [&](const std::optional<AffineExpr>& e) {
    for (std::size_t g = 0; e && g < spans_.size(); ++g)
      if (e->coefficients[g] != 0 && spans_[g].level > span.level) return false;
    return e.has_value();
  };
  std::vector<Statement>& into = levels_[span.level].before;
  if (is_known(needed.lo))
    span.lo = variable(define(into, "from." + name, {bound(span.lo), bound(at_end(*needed.lo, false))}, true));
  if (is_known(needed.hi))
    span.hi = variable(define(into, "to." + name, {bound(span.hi), bound(at_end(*needed.hi, true))}, false));
  span.hi = variable(define(into, "end." + name, {bound(span.lo), bound(span.hi)}, true));
  span.exact = false;
  return span;
}

}  // namespace tap::backend
