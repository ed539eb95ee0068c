// Split scans: each block is scanned alone, the blocks before it are combined, and both results are combined.
//
//   y[i] = m[k] f(k) where k <= i + s      of block r of i, the blocks of k before r are seen whole by every i of it, and those
//                                          behind r by none: so y[i] = combine(carry[r], local[i]), or turned round
#include "check/justify.h"

namespace tap::check {

namespace {

// A reduction whose reduced dim is bounded by one other dim, with coefficients of 1.
struct Scan {
  std::uint32_t along = 0, reduced = 0;
  bool forward = true;  // k <= i + shift, else k >= i + shift
  std::int64_t shift = 0;
};

Scan scan_of(const ir::Operator& op) {
  auto unless = [](bool holds, const char* why) { expect(Obligation::scan, holds, "{}", why); };
  Scan scan;
  std::size_t ties = 0;
  auto reduced = dims_of_role(op, ir::DimRole::reduction);
  unless(op.reduce() && reduced.size() == 1, "the split operation is not a reduction over one dim");
  scan.reduced = *reduced.begin();
  for (const ir::Constraint& c : op.constraints) {
    if (!uses_dim(c.expr, scan.reduced)) continue;
    std::int64_t k = c.expr.coefficients[scan.reduced];
    std::size_t others = 0;
    for (std::uint32_t d = 0; d < op.dims.size(); ++d)
      if (d != scan.reduced && uses_dim(c.expr, d)) scan.along = d, ++others;
    bool tied = ++ties == 1 && others == 1 && c.comparison == ir::Comparison::at_least_zero;
    unless(tied, "the bound of the reduced dim must depend on one other dim only");
    unless((k == 1 || k == -1) && c.expr.coefficients[scan.along] == -k, "the scan bound does not advance by one");
    scan.forward = k == -1;
    scan.shift = scan.forward ? c.expr.offset : checked::sub(0, c.expr.offset);
  }
  unless(ties == 1 && op.dims[scan.along].role == ir::DimRole::parallel, "the reduced dim has no scan bound");
  for (const ir::Blocking& b : op.blockings)
    unless(b.dim != scan.along && b.dim != scan.reduced, "the operation is already split");
  // No term depends on the running dim.
  for (std::size_t k = 0; k < op.exprs.size(); ++k) {
    const ir::CellNode& node = op.exprs[ir::CellId(k)];
    unless(node.op != ir::CellOp::index || node.attribute != scan.along, "a term depends on the scan dim");
  }
  for (const ir::Access& read : op.reads)
    for (const AffineExpr& row : read.projection.start.rows)
      unless(!uses_dim(row, scan.along), "a term depends on the scan dim");
  return scan;
}

// Whether a block of the running dim uses the earlier blocks whole, and the later ones not at all.
void check_edges(const Scan& scan, const ir::Operator& of, const ir::Blocks& along, const ir::Blocks& reduced) {
  ir::Range running = of.dims[scan.along].range, terms = of.dims[scan.reduced].range;
  expect(Obligation::scan, along.count == reduced.count, "{} blocks of one dim, {} of the other", along.count,
         reduced.count);
  if (along == reduced && running == terms && (scan.shift == 0 || scan.shift == (scan.forward ? -1 : 1))) return;
  for (std::int64_t r = 0; r < along.count; ++r) {
    std::int64_t from = edge(along, running, r), to = edge(along, running, r + 1);
    if (from >= to) continue;
    std::int64_t first = edge(reduced, terms, r), last = edge(reduced, terms, r + 1);
    std::int64_t low = checked::add(from, scan.shift), high = checked::add(to - 1, scan.shift);
    bool before = first == terms.lo || (scan.forward ? first - 1 <= low : first - 1 < low);
    bool after = last >= terms.hi || (scan.forward ? last > high : last >= high);
    expect(Obligation::scan, before && after, "block {} of the scan does not match its block of terms", r);
  }
}

}  // namespace

// The reduced dim is split like the running dim.
Justify::Result Justify::justify(const ir::LocalScanOf& j) {
  Side before = numbering_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  Match match(side_, before, in_order(b, a.dims.size(), Obligation::scan), Obligation::scan);
  std::size_t old = b.blockings.size();
  match.expect(a.blockings.size() == old + 2, "{} blockings, {} before", a.blockings.size(), old);
  const ir::Blocks &along = a.blockings[old].blocks, &reduced = a.blockings[old + 1].blocks;
  auto block = static_cast<std::uint32_t>(b.dims.size());
  Form expected = match.form();
  match.split(expected, {scan.along, block, along}, ir::DimRole::parallel);
  expected.blockings.push_back({scan.reduced, block, reduced});
  parts(match, expected, before, {}, {});
  match.is(expected);
  check_blocks(a, old, 2);
  check_edges(scan, b, along, reduced);
  laws(monoid(b), false);
  return {Obligation::scan, {}};
}

Justify::Result Justify::justify(const ir::TotalsOf& j) {
  Side before = numbering_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  Match match(side_, before, in_order(b, a.dims.size(), Obligation::scan, {scan.along}), Obligation::scan);
  match.expect(!a.blockings.empty(), "it is not split");
  Form expected = match.form();
  auto block = static_cast<std::uint32_t>(expected.dims.size()), reduced = scan.reduced - (scan.reduced > scan.along);
  match.split(expected, {reduced, block, a.blockings.back().blocks}, ir::DimRole::parallel);
  parts(match, expected, before, scan.along, block);
  match.is(expected);
  check_blocks(a, b.blockings.size());
  return {Obligation::scan, {}};
}

// Combines the totals before each block, in order; the totals have their own claim.
Justify::Result Justify::justify(const ir::CarryOf& j) {
  Side before = numbering_.side(j.of), totals = part<ir::TotalsOf>(j.totals, j.of, Obligation::scan).second;
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  std::size_t over = a.dims.size();
  Match match(side_, before, in_order(b, over, Obligation::scan, {scan.along, scan.reduced}), Obligation::scan);
  match.expect(over == b.dims.size() && !totals.op->blockings.empty() && totals.results.size() == b.writes.size(),
               "the carry has {} dims, or its totals have the wrong form", over);
  // The parallel dims of the totals, the block, and the blocks that are reduced.
  auto r = static_cast<std::uint32_t>(over - 2), q = static_cast<std::uint32_t>(over - 1);
  ir::Range blocks{0, totals.op->blockings.back().blocks.count};
  Form expected = match.form();
  match.insert(expected, r, {"", blocks});
  match.insert(expected, q, {"", blocks, ir::DimRole::reduction});
  AffineExpr distance = scale(unit(over, r) - unit(over, q), scan.forward ? 1 : -1);
  expected.constraints.push_back({distance + number(over, -1), ir::Comparison::at_least_zero});
  parts(match, expected, before, scan.along, r);
  for (std::size_t k = 0; k < expected.writes.size(); ++k) {
    std::vector<AffineExpr> rows = expected.writes[k].rows;
    rows[0] = unit(over, q);
    expected.values[k] = read_of(match.terms(), totals.results[k], expected.results[k].first.element, rows);
  }
  match.is(expected);
  return {Obligation::scan, {}};
}

Justify::Result Justify::justify(const ir::CarriedScanOf& j) {
  Side before = numbering_.side(j.of), local = part<ir::LocalScanOf>(j.local, j.of, Obligation::scan).second;
  auto [claim, carry] = part<ir::CarryOf>(j.carry, j.of, Obligation::scan);
  Side totals = part<ir::TotalsOf>(claim->totals, j.of, Obligation::scan).second;
  const ir::Operator &a = *side_.op, &b = *before.op;
  Scan scan = scan_of(b);
  Match match(side_, before, in_order(b, a.dims.size(), Obligation::scan, {scan.reduced}), Obligation::scan);
  match.expect(local.op->blockings.size() >= 2 && !totals.op->blockings.empty() &&
                   carry.results.size() == b.writes.size() && local.results.size() == b.writes.size() &&
                   local.op->blockings.back().blocks == totals.op->blockings.back().blocks,
               "the totals and the local scans have different blocks");
  Form expected = match.form();
  auto block = static_cast<std::uint32_t>(expected.dims.size()), along = scan.along - (scan.along > scan.reduced);
  match.expect(block < a.dims.size(), "it is not split");
  match.split(expected, {along, block, local.op->blockings.end()[-2].blocks}, ir::DimRole::parallel);
  Form under = expected;
  parts(match, under, before, scan.along, block, true);
  const ir::Monoid& by = monoid(b);
  std::vector<Term> earlier, later;
  for (std::size_t k = 0; k < b.writes.size(); ++k) {
    ElementType type = by.components[k].type;
    earlier.push_back(read_of(match.terms(), carry.results[k], type, under.writes[k].rows));
    later.push_back(read_of(match.terms(), local.results[k], type, expected.writes[k].rows));
  }
  if (!scan.forward) std::swap(earlier, later);
  expected.values = combined(match.terms(), by, earlier, later);
  expected.monoid.reset();
  expected.body = ir::Body(ir::MapBody{}).index();
  match.is(expected);
  return {Obligation::scan, {j.of}};
}

}  // namespace tap::check
