// Cut scans: each block scanned alone, the blocks before it combined, and both together.
//
//   y[i] = m[k] f(k) where k <= i + s      of block r of i, the blocks of k before r are seen whole by every i of it, and those
//                                          behind r by none: so y[i] = combine(carry[r], local[i]), or turned round
#include <algorithm>

#include "check/justify.h"
#include "support/checked.h"

namespace tap::check {

namespace {

// A reduction whose reduced dim is bounded by one other, one by one.
struct Scan {
  std::uint32_t along = 0, reduced = 0;
  bool forward = true;  // k <= i + shift, else k >= i + shift
  std::int64_t shift = 0;
};

Scan scan_of(const ir::Operator& op) {
  auto unless = [](bool holds, const char* why) { expect(Obligation::scan, holds, "{}", why); };
  unless(op.reduce() != nullptr, "what is cut is no reduction");
  Scan scan;
  std::size_t reduced = 0, ties = 0;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == ir::DimRole::reduction) scan.reduced = d, ++reduced;
  unless(reduced == 1, "a scan reduces one dim");
  for (const ir::Constraint& c : op.constraints) {
    if (!speaks_of(c.expr, scan.reduced)) continue;
    std::int64_t k = c.expr.coefficients[scan.reduced];
    std::vector<std::uint32_t> others;
    for (std::uint32_t d = 0; d < op.dims.size(); ++d)
      if (d != scan.reduced && speaks_of(c.expr, d)) others.push_back(d);
    unless(++ties == 1 && others.size() == 1 && c.comparison == ir::Comparison::at_least_zero,
           "the reduced dim is not bounded by one other alone");
    scan.along = others[0];
    unless((k == 1 || k == -1) && c.expr.coefficients[scan.along] == -k, "the reduced dim is not bounded one by one");
    scan.forward = k == -1;
    scan.shift = scan.forward ? c.expr.offset : checked::sub(0, c.expr.offset);
  }
  unless(ties == 1 && op.dims[scan.along].role == ir::DimRole::parallel, "the reduced dim is bounded by no other");
  for (const ir::Blocking& b : op.blockings)
    unless(b.dim != scan.along && b.dim != scan.reduced, "what is cut is cut already");
  // No term depends on where along the scan it is asked for.
  for (std::size_t k = 0; k < op.exprs.size(); ++k) {
    const ir::CellNode& node = op.exprs[ir::CellId(k)];
    unless(node.op != ir::CellOp::index || node.attribute != scan.along, "a term depends on the running dim");
  }
  for (const ir::Access& read : op.reads)
    for (const AffineExpr& row : read.projection.start.rows)
      unless(!speaks_of(row, scan.along), "a term depends on the running dim");
  return scan;
}

// Where block r begins; block `count` would begin at the end.
std::int64_t edge(const ir::Blocks& blocks, ir::Range range, std::int64_t r) {
  if (!blocks.boundaries.empty()) return blocks.boundaries[static_cast<std::size_t>(r)];
  std::int64_t size = std::max<std::int64_t>(0, checked::sub(range.hi, range.lo));
  std::int64_t step = size / blocks.count + (size % blocks.count != 0);
  return range.lo + (step != 0 && r >= size / step + 1 ? size : std::min(size, step * r));
}

// Whether a block of the running dim sees the blocks before it whole, and those behind it not at all.
void check_edges(const Scan& scan, const ir::Operator& of, const ir::Blocks& along, const ir::Blocks& reduced) {
  ir::Range running = of.dims[scan.along].range, terms = of.dims[scan.reduced].range;
  expect(Obligation::scan, along.count == reduced.count, "{} blocks of one dim and {} of the other", along.count,
         reduced.count);
  if (along == reduced && running == terms && (scan.shift == 0 || scan.shift == (scan.forward ? -1 : 1))) return;
  for (std::int64_t r = 0; r < along.count; ++r) {
    std::int64_t from = edge(along, running, r), to = edge(along, running, r + 1);
    if (from >= to) continue;
    std::int64_t first = edge(reduced, terms, r), last = edge(reduced, terms, r + 1);
    std::int64_t low = checked::add(from, scan.shift), high = checked::add(to - 1, scan.shift);
    bool before = first == terms.lo || (scan.forward ? first - 1 <= low : first - 1 < low);
    bool behind = last >= terms.hi || (scan.forward ? last > high : last >= high);
    expect(Obligation::scan, before && behind, "block {} of the scan and its block of terms do not fit", r);
  }
}

// The write without the axis along which the scan runs, its rows over other dims.
std::vector<AffineExpr> without_axis(const ir::Access& write, const Scan& scan, const std::vector<AffineExpr>& rows) {
  std::vector<AffineExpr> left;
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    if (!speaks_of(write.projection.start.rows[axis], scan.along)) left.push_back(rows[axis]);
  expect(Obligation::scan, left.size() + 1 == rows.size(), "a result does not run along the scan on one axis");
  return left;
}

Term read_of(Terms& terms, Class value, ElementType type, const std::vector<AffineExpr>& rows) {
  Terms::Node node{Terms::Kind::read, ir::CellOp::read, type, {value}, {}};
  for (const AffineExpr& row : rows) {
    node.data.insert(node.data.end(), {0, 1, row.offset});
    node.data.insert(node.data.end(), row.coefficients.begin(), row.coefficients.end());
  }
  node.data.push_back(0);
  return terms.add(std::move(node));
}

// Each dim of `op` in its order, but for one that is gone.
Dims dims_without(const ir::Operator& op, std::uint32_t gone, std::size_t over) {
  Dims dims{{}, std::vector<AffineExpr>(op.dims.size(), number(over, op.dims[gone].range.lo))};
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    dims.place.push_back(d == gone ? std::nullopt : std::optional(d - (d > gone)));
  return dims;
}

}  // namespace

// What is written are new values of the components' types.
void Justify::components(const ir::Operator& of, const ir::Monoid& monoid) const {
  const ir::Operator& a = *side_.op;
  for (ir::ValueId v : side_.operation->results)
    expect(Obligation::scan, !claim_.values[v.index()], "a part of a cut scan is a new value");
  expect(Obligation::scan, a.results.size() == of.writes.size() && a.writes.size() == of.writes.size(),
         "{} results of {} components", a.results.size(), of.writes.size());
  for (std::size_t k = 0; k < a.writes.size(); ++k)
    expect(Obligation::scan, a.writes[k].tensor == k && a.results[k].element == monoid.components[k].type,
           "part {} is not of its component's type", k);
}

Justify::Result Justify::justify(const ir::LocalScanOf& j) {
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  Match match(places_, side_, before, same_dims(side_, before, Obligation::scan), Obligation::scan);
  match.dims();
  match.constraints();
  match.blockings(2);
  std::size_t old = b.blockings.size();
  const ir::Blocking &along = a.blockings[old], &reduced = a.blockings[old + 1];
  std::uint32_t block = static_cast<std::uint32_t>(b.dims.size());
  match.expect(a.dims.size() == b.dims.size() + 1 && a.dims[block].role == ir::DimRole::parallel, "it has other dims");
  match.expect(
      along.dim == scan.along && reduced.dim == scan.reduced && along.block_dim == block && reduced.block_dim == block,
      "other dims are cut");
  new_block(a, along, old, 2);
  new_block(a, reduced, old + 1, 2);
  check_edges(scan, b, along.blocks, reduced.blocks);
  const ir::Monoid& monoid = context_.before[b.reduce()->monoid];
  components(b, monoid);
  for (std::size_t k = 0; k < a.writes.size(); ++k) {
    match.expect(a.results[k].shape == b.results[b.writes[k].tensor].shape, "part {} is of another shape", k);
    match.write_place(k);
  }
  match.body();
  laws(monoid, false);
  return {Obligation::scan, {}};
}

Justify::Result Justify::justify(const ir::TotalsOf& j) {
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  expect(Obligation::scan, a.dims.size() == b.dims.size(), "{} dims", a.dims.size());
  Match match(places_, side_, before, dims_without(b, scan.along, a.dims.size()), Obligation::scan);
  match.dims();
  match.blockings(1);
  const ir::Blocking& cut = a.blockings.back();
  auto block = static_cast<std::uint32_t>(a.dims.size() - 1);
  match.expect(cut.block_dim == block && cut.dim == scan.reduced - (scan.reduced > scan.along) &&
                   a.dims[block].role == ir::DimRole::parallel,
               "other dims are cut");
  new_block(a, cut, a.blockings.size() - 1);
  std::vector<ir::Constraint> kept;
  for (const ir::Constraint& c : b.constraints)
    if (!speaks_of(c.expr, scan.along)) kept.push_back({match.before_cells().placed(c.expr), c.comparison});
  match.expect(a.constraints == kept, "other terms are in the totals");
  components(b, context_.before[b.reduce()->monoid]);
  for (std::size_t k = 0; k < a.writes.size(); ++k) {
    std::vector<AffineExpr> rows = without_axis(b.writes[k], scan, match.before_cells().rows(b.writes[k]));
    rows.insert(rows.begin(), unit(a.dims.size(), block));
    match.expect(a.writes[k].projection.start.rows == rows && a.writes[k].projection.shape == Shape(rows.size(), 1),
                 "total {} is at another place", k);
  }
  match.body();
  return {Obligation::scan, {}};
}

// Of the totals before each block, in order; what they are is told by their own claim.
Justify::Result Justify::justify(const ir::CarryOf& j) {
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  const auto* of = j.totals.index() < claim_.operations.size()
                       ? std::get_if<ir::TotalsOf>(&claim_.operations[j.totals.index()])
                       : nullptr;
  expect(Obligation::scan, of && of->of == j.of, "what is carried are not the totals of that scan");
  Side totals = after_side(j.totals);
  std::size_t over = a.dims.size();
  // The parallel dims of the totals, the block, and the blocks that are reduced.
  expect(
      Obligation::scan,
      a.reduce() && over == b.dims.size() && totals.op->dims.size() == b.dims.size() && !totals.op->blockings.empty(),
      "the carry has {} dims", over);
  auto r = static_cast<std::uint32_t>(over - 2), q = static_cast<std::uint32_t>(over - 1);
  ir::Range blocks{0, totals.op->blockings.back().blocks.count};
  Dims dims{{}, std::vector<AffineExpr>(b.dims.size(), number(over, 0))};
  for (std::uint32_t d = 0, next = 0; d < b.dims.size(); ++d)
    dims.place.push_back(d == scan.along || d == scan.reduced ? std::nullopt : std::optional(next++));
  Match match(places_, side_, before, dims, Obligation::scan);
  match.dims();
  match.blockings();
  match.monoid();
  match.expect(a.dims[r].range == blocks && a.dims[q].range == blocks && a.dims[r].role == ir::DimRole::parallel &&
                   a.dims[q].role == ir::DimRole::reduction,
               "the carry does not run over the blocks");
  std::vector<ir::Constraint> wanted{
      {plus(times(minus(unit(over, r), unit(over, q)), scan.forward ? 1 : -1), number(over, -1)),
       ir::Comparison::at_least_zero}};
  for (const ir::Constraint& c : b.constraints)
    if (!speaks_of(c.expr, scan.along)) wanted.push_back({match.before_cells().placed(c.expr), c.comparison});
  match.expect(a.constraints == wanted, "the carry of a block is not what lies before it");
  components(b, context_.before[b.reduce()->monoid]);
  for (std::size_t k = 0; k < a.writes.size(); ++k) {
    std::vector<AffineExpr> rows = without_axis(b.writes[k], scan, match.before_cells().rows(b.writes[k]));
    rows.insert(rows.begin(), unit(over, r));
    match.expect(a.writes[k].projection.start.rows == rows && a.results[k] == totals.op->results[k],
                 "carry {} is at another place", k);
    rows[0] = unit(over, q);
    match.expect(match.after_cells().term(a.reduce()->operands[k]) ==
                     read_of(match.terms(), totals.results[k], a.results[k].element, rows),
                 "carry {} is not of the totals of its component", k);
  }
  return {Obligation::scan, {}};
}

Justify::Result Justify::justify(const ir::CarriedScanOf& j) {
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  const auto& all = claim_.operations;
  auto known = [&](auto* kind, ir::OperationId id) {
    using Kind = std::remove_pointer_t<decltype(kind)>;
    const auto* found = id.index() < all.size() ? std::get_if<Kind>(&all[id.index()]) : nullptr;
    expect(Obligation::scan, found && found->of == j.of, "operation {} is no part of that scan", id.index());
    return found;
  };
  const ir::CarryOf* carry_claim = known(static_cast<ir::CarryOf*>(nullptr), j.carry);
  known(static_cast<ir::LocalScanOf*>(nullptr), j.local);
  Side carry = after_side(j.carry), local = after_side(j.local), totals = after_side(carry_claim->totals);
  bool parts = local.op->blockings.size() >= 2 && !totals.op->blockings.empty() &&
               carry.results.size() == b.writes.size() && local.results.size() == b.writes.size();
  expect(Obligation::scan, parts && local.op->blockings.back().blocks == totals.op->blockings.back().blocks,
         "the totals and the local scans are of different blocks");
  expect(Obligation::scan, a.map() && a.dims.size() == b.dims.size(), "{} dims", a.dims.size());
  Match match(places_, side_, before, dims_without(b, scan.reduced, a.dims.size()), Obligation::scan);
  match.dims();
  match.blockings(1);
  auto block = static_cast<std::uint32_t>(a.dims.size() - 1);
  std::uint32_t along = scan.along - (scan.along > scan.reduced);
  const ir::Blocks& of_local = local.op->blockings[local.op->blockings.size() - 2].blocks;
  bool cut = a.blockings.back() == ir::Blocking{along, block, of_local};
  match.expect(
      cut && a.dims[block].role == ir::DimRole::parallel && a.dims[block].range == ir::Range{0, of_local.count},
      "it is cut in another way than the local scans");
  std::vector<ir::Constraint> kept;
  for (const ir::Constraint& c : b.constraints)
    if (!speaks_of(c.expr, scan.reduced)) kept.push_back({match.before_cells().placed(c.expr), c.comparison});
  match.expect(a.constraints == kept, "it writes other cells");
  match.writes();
  const ir::Monoid& monoid = context_.before[b.reduce()->monoid];
  std::vector<Term> earlier, later;
  for (std::size_t k = 0; k < b.writes.size(); ++k) {
    std::vector<AffineExpr> rows = match.before_cells().rows(b.writes[k]),
                            under = without_axis(b.writes[k], scan, rows);
    under.insert(under.begin(), unit(a.dims.size(), block));
    earlier.push_back(read_of(match.terms(), carry.results[k], monoid.components[k].type, under));
    later.push_back(read_of(match.terms(), local.results[k], monoid.components[k].type, rows));
  }
  if (!scan.forward) std::swap(earlier, later);
  std::vector<Term> made = combined(match.terms(), monoid, earlier, later);
  for (std::size_t k = 0; k < made.size(); ++k)
    match.expect(match.after_cells().term(a.map()->values[k]) == made[k],
                 "value {} is not the carry combined with the block's own scan", k);
  return {Obligation::scan, {j.of}};
}

}  // namespace tap::check
