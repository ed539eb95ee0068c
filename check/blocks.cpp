// Splits: parallel dims, partials of a reduction and their combination, and reductions over one point.
#include "check/justify.h"

namespace tap::check {

void check_blocks(const ir::Operator& op, std::size_t from, std::size_t splits) {
  auto unless = [](bool holds, const char* why) { expect(Obligation::blocks_partition, holds, "{}", why); };
  for (std::size_t k = from; k < op.blockings.size(); ++k) {
    const ir::Blocking& blocking = op.blockings[k];
    const ir::IndexDim& dim = op.dims[blocking.dim];
    const auto& bounds = blocking.blocks.boundaries;
    std::int64_t count = blocking.blocks.count, hi = std::max(dim.range.lo, dim.range.hi);
    expect(Obligation::blocks_partition, count >= 1, "{} blocks", count);
    unless(!dim.keep && dim.role != ir::DimRole::counter, "the dim must not be split");
    if (!bounds.empty()) {
      unless(std::ssize(bounds) == count + 1, "the number of boundaries must be the number of blocks plus one");
      expect(Obligation::blocks_partition, bounds.front() == dim.range.lo && bounds.back() == hi,
             "the blocks cover {}..{}, the dim {}..{}", bounds.front(), bounds.back(), dim.range.lo, hi);
      unless(std::is_sorted(bounds.begin(), bounds.end()), "the boundaries of the blocks do not increase");
    }
    std::size_t splits_of_dim = 0;
    for (std::size_t other = 0; other < op.blockings.size(); ++other) {
      splits_of_dim += op.blockings[other].block_dim == blocking.block_dim;
      unless(op.blockings[other].dim != blocking.block_dim || other < k,
             "a block dim is split after it splits another dim");
      unless(op.blockings[other].dim != blocking.dim || other >= k || bounds.empty(),
             "blocks of blocks must not have explicit boundaries");
    }
    unless(splits_of_dim == splits, "one block dim splits several dims");
  }
}

Justify::Result Justify::justify(const ir::BlockedFrom& j) {
  constexpr auto obligation = Obligation::blocks_partition;
  Side before = numbering_.side(j.from);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Match match(side_, before, in_order(b, a.dims.size(), obligation), obligation);
  bool group = b.region() && b.region()->kind == ir::RegionKind::group;
  match.expect(b.map() || b.reduce() || b.kernel() || group, "only maps, reductions, kernels and groups can be split");
  if (group) same_region(side_, before);
  Form expected = match.form();
  for (std::size_t k = b.blockings.size(); k < a.blockings.size(); ++k) {
    const ir::Blocking& by = a.blockings[k];
    match.expect(by.block_dim == expected.dims.size() && by.dim < expected.dims.size(),
                 "blocking {} uses an existing dim as its block dim", k);
    match.split(expected, by, expected.dims[by.dim].role);
  }
  match.is(expected);
  check_blocks(a, b.blockings.size());
  return {obligation, {j.from}};
}

void require_laws(const ir::Monoid& monoid, bool in_any_order, bool folded, Assumptions& assumed) {
  auto need = [&](ir::Law law, const char* what) {
    expect(Obligation::laws, law == ir::Law::proved || law == ir::Law::assumed, "the monoid `{}` is not known to {}",
           monoid.name, what);
    if (law == ir::Law::assumed)
      assumed.emplace_back(Obligation::laws, fmt::format("the monoid `{}` is assumed to {}", monoid.name, what));
  };
  need(monoid.laws.associative, "be associative");
  need(monoid.laws.identity, "have its identity");
  if (in_any_order) need(monoid.laws.commutative, "be commutative");
  if (folded) need(monoid.laws.fold, "agree with its fold");
}

// An alternative names the monoids whose laws it assumes, not each law.
void Justify::laws(const ir::Monoid& monoid, bool in_any_order, bool folded) {
  Assumptions found;
  require_laws(monoid, in_any_order, folded, found);
  if (!found.empty() && context_.offered)
    context_.assumed.emplace_back(Obligation::laws, fmt::format("the laws of `{}` hold", monoid.name));
  else context_.assumed.insert(context_.assumed.end(), found.begin(), found.end());
}

void Justify::parts(const Match& match, Form& form, const Side& of, std::optional<std::uint32_t> along,
                    std::optional<std::uint32_t> block, bool old) const {
  form.results.clear();
  match.expect(side_.results.size() >= form.writes.size(), "results are missing");
  for (std::size_t k = 0; k < form.writes.size(); ++k) {
    match.expect(old || !claim_.values[side_.operation->results[k].index()], "part {} is not a new value", k);
    Form::Write& write = form.writes[k];
    const ir::Access& was = of.op->writes[k];
    ir::TensorType type = of.op->results[was.tensor];
    if (!of.op->kernel()) type.element = monoid(*of.op).components[k].type;
    std::size_t axes = write.rows.size();
    for (std::size_t axis = axes; along && axis-- > 0;) {
      if (!uses_dim(was.projection.start.rows[axis], *along)) continue;
      auto at = static_cast<std::ptrdiff_t>(axis);
      write.rows.erase(write.rows.begin() + at);
      write.shape.erase(write.shape.begin() + at);
      type.shape.erase(type.shape.begin() + at);
    }
    match.expect(!along || write.rows.size() + 1 == axes, "result {} does not run along the scan on one axis", k);
    if (block) {
      const std::ptrdiff_t at = of.op->kernel() ? std::ssize(write.rows) : 0;
      write.rows.insert(write.rows.begin() + at, unit(side_.op->dims.size(), *block));
      write.shape.insert(write.shape.begin() + at, 1);
      type.shape.insert(type.shape.begin() + at, form.dims[*block].range.hi);
    }
    write.result = k;
    form.results.emplace_back(std::move(type), side_.results[k]);
  }
}

// p[r, …] = the reduction over block r.
Justify::Result Justify::justify(const ir::PartialOf& j) {
  constexpr auto obligation = Obligation::reduction_partition;
  Side before = numbering_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  bool by_monoid = b.reduce() || (b.kernel() && b.kernel()->reduced_by && b.writes.size() == monoid(b).arity());
  bool reduced = by_monoid && dims_of_role(b, ir::DimRole::reduction).count(j.dim) > 0;
  expect(obligation, reduced, "the split dim is not reduced");
  Dims dims = in_order(b, a.dims.size(), obligation, {}, j.block_dim);
  bool is_split = !a.blockings.empty() && a.blockings.back().block_dim == j.block_dim;
  expect(obligation, is_split && unit(a.dims.size(), a.blockings.back().dim) == dims[j.dim],
         "the split dim is not dim {}", j.dim);
  Match match(side_, before, dims, obligation);
  Form expected = match.form();
  match.split(expected, a.blockings.back(), ir::DimRole::parallel);
  parts(match, expected, before, {}, j.block_dim);
  match.is(expected);
  check_blocks(a, b.blockings.size());
  // In order, unless an outer dim is reduced as well, or the dim is streamed in blocks.
  bool others = *dims_of_role(b, ir::DimRole::reduction).begin() < j.dim;
  for (const ir::Blocking& old : b.blockings)
    others |= old.dim == j.dim && b.dims[old.block_dim].role == ir::DimRole::reduction;
  laws(monoid(b), others);
  return {obligation, {}};
}

// y[…] = the partials p[r, …], combined in the order of r, over the same cells as the reduction.
Justify::Result Justify::justify(const ir::CombinationOf& j) {
  constexpr auto obligation = Obligation::reduction_partition;
  Side before = numbering_.side(j.of), partial = part<ir::PartialOf>(j.partial, j.of, obligation).second;
  const ir::Operator &a = *side_.op, &b = *before.op;
  expect(obligation, !partial.op->blockings.empty() && partial.results.size() == b.writes.size(),
         "the partials have the wrong form");
  std::set<std::uint32_t> blocks = dims_of_role(a, ir::DimRole::reduction);
  expect(obligation, blocks.size() == 1, "the combination reduces {} dims", blocks.size());
  if (b.kernel()) {
    combines_kernel(before, partial, j);
    return {obligation, {j.of}};
  }
  std::uint32_t block = *blocks.begin();
  auto removed = dims_of_role(b, ir::DimRole::reduction);
  Match match(side_, before, in_order(b, a.dims.size(), obligation, removed, block), obligation);
  Form expected = match.form();
  std::int64_t count = partial.op->blockings.back().blocks.count;
  match.insert(expected, block, {"", {0, count}, ir::DimRole::reduction});
  for (std::size_t k = 0; k < expected.writes.size(); ++k) {
    std::vector<AffineExpr> rows = expected.writes[k].rows;
    rows.insert(rows.begin(), unit(a.dims.size(), block));
    expected.values[k] = read_of(match.terms(), partial.results[k], partial.op->results[k].element, rows);
  }
  match.is(expected);
  return {obligation, {j.of}};
}

// An outside kernel writes regions; its partials are combined cell by cell: y[c…] = the partials p[c…, r] in the order
// of r. These are all of the kernel's cells, since nothing else writes the value.
void Justify::combines_kernel(const Side& before, const Side& partial, const ir::CombinationOf& j) const {
  const ir::Operator &a = *side_.op, &b = *before.op;
  Match match(side_, before, Dims(b.dims.size()), Obligation::reduction_partition);
  const std::size_t over = a.dims.size();
  Form expected = match.form();
  match.expect(over >= 1 && expected.monoid && b.writes.size() == b.results.size(),
               "a kernel writes a result in several parts");
  expected.dims.clear();
  for (std::int64_t extent : b.results.at(0).shape) expected.dims.push_back({"", {0, extent}});
  expected.dims.push_back({"", {0, partial.op->blockings.back().blocks.count}, ir::DimRole::reduction});
  match.expect(expected.dims.size() == over, "{} dims, expected {}", over, expected.dims.size());
  std::vector<AffineExpr> rows;
  for (std::size_t d = 0; d + 1 < over; ++d) rows.push_back(unit(over, d));
  std::vector<AffineExpr> in_partial = rows;
  in_partial.push_back(unit(over, over - 1));
  expected.constraints.clear(), expected.blockings.clear(), expected.operands.clear(), expected.reads.clear();
  expected.kernel.clear();
  expected.body = a.body.index();
  match.expect(a.reduce() != nullptr, "the combination is not a reduction");
  for (std::size_t k = 0; k < b.writes.size(); ++k) {
    const std::size_t result = b.writes[k].tensor;
    const bool alone = numbering_.writers(j.of.path, before.operation->results[result]).size() == 1;
    match.expect(alone && b.results[result].shape == b.results[0].shape && result == k, "result {} has several parts",
                 result);
    expected.writes[k] = {result, rows, Shape(rows.size(), 1), {}};
    Term read = read_of(match.terms(), partial.results[k], partial.op->results[k].element, in_partial);
    expected.values.push_back(match.terms().apply(ir::CellOp::cast, monoid(b).components[k].type, {read}));
  }
  match.is(expected);
}

// y = combine(identity, operand) at the reduction's only point, or the identity.
Justify::Result Justify::justify(const ir::PointOf& j) {
  constexpr auto obligation = Obligation::point;
  Side before = numbering_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  expect(obligation, a.map() && b.reduce() && b.blockings.empty(), "a reduction that is not split becomes a map");
  auto reduced = dims_of_role(b, ir::DimRole::reduction);
  bool empty = false, one = true;
  for (std::uint32_t d : reduced) {
    empty |= b.dims[d].range.hi <= b.dims[d].range.lo;
    one &= b.dims[d].range.hi - b.dims[d].range.lo <= 1;
    for (const ir::Constraint& c : b.constraints) one &= !uses_dim(c.expr, d);  // decides which cells combine a point
  }
  expect(obligation, empty || one, "the reduction must have exactly one point everywhere");
  Match match(side_, before, in_order(b, a.dims.size(), obligation, reduced), obligation);
  Form expected = match.form();
  const ir::Monoid& by = monoid(b);
  std::vector<Term> identity;
  for (ir::CellId cell : by.identity) identity.push_back(match.terms().constant(by.exprs[cell].value));
  expected.values = empty ? identity : combined(match.terms(), by, identity, expected.values);
  expected.monoid.reset();
  expected.body = a.body.index();
  match.is(expected);
  return {obligation, {j.of}};
}

}  // namespace tap::check
