// Folds: a reduction with one dim in blocks, each block computed by the plain operations of its monoid's `fold`, and
// their combination. All operations are viewed over one index space: the dims of the reduction, where the split dim
// is the position within a block, and the block number. Starting from the combination, operations are traced back to
// the operands of the reduction; the resulting term must be that of the fold.
#include "check/justify.h"

namespace tap::check {

namespace {

void unless(bool holds, const char* why) { expect(Obligation::fold, holds, "{}", why); }

struct Folded {
  const Side& of;
  const ir::Program& after;
  const ir::GraphClaim& claim;
  const std::vector<Class>& classes;  // of the values of after's graph
  const ir::Operator& op = *of.op;
  const ir::Monoid& monoid = (*of.program)[op.reduce()->monoid];
  const std::set<std::uint32_t> reduced = dims_of_role(op, ir::DimRole::reduction);
  const std::size_t over = op.dims.size() + 1;
  Box box = box_of(op);
  std::vector<ir::Constraint> constraints = {};
  Terms terms{over};
  std::vector<Term> cells = {};  // of the fold
  std::set<Term> reads = {};     // of the reduction
  std::size_t looked_at = 0;

  void look_at(const ir::FoldOf& j) {
    unless(reduced.count(j.dim) > 0 && !op.dims[j.dim].keep && j.size >= 1, "the split dim is not reduced");
    bool plain = op.blockings.empty() && dims_of_role(op, ir::DimRole::counter).empty();
    unless(plain && monoid.fold.has_value(), "it is already split, uses a counter, or its monoid has no fold");
    std::int64_t lo = box.dims[j.dim].lo, points = checked::sub(box.dims[j.dim].hi, lo),
                 count = (points - 1) / j.size + 1;
    box.dims[j.dim] = {0, j.size};
    box.dims.push_back({0, std::max<std::int64_t>(count, 1)});
    Dims dims = in_order(op, over, Obligation::fold);
    AffineExpr position = unit(over, j.dim) + scale(unit(over, over - 1), count > 1 ? j.size : 0);
    dims[j.dim] = position + number(over, lo);
    Cells its(terms, of, dims);
    for (const ir::Constraint& c : op.constraints) {
      auto speaks = [&](std::uint32_t d) { return uses_dim(c.expr, d); };
      unless(std::any_of(reduced.begin(), reduced.end(), speaks), "not every cell is written");
      constraints.push_back({its.placed(c.expr), c.comparison});
    }
    if (checked::mul(box.dims.back().hi, j.size) > points)
      constraints.push_back({number(over, points - 1) - position, ir::Comparison::at_least_zero});
    std::vector<Term> operands;
    for (ir::CellId cell : op.reduce()->operands) operands.push_back(its.term(cell));
    for (std::uint32_t r = 0; r < op.reads.size(); ++r) reads.insert(its.read(r));
    cells = folded(terms, *of.program, monoid, operands);
    std::vector<Term> empty = folded(terms, *of.program, monoid, operands, true);
    for (std::size_t k = 0; k < monoid.identity.size() && (!op.constraints.empty() || points == 0); ++k)
      unless(empty[monoid.fold->roots[k].index()] == terms.constant(monoid.exprs[monoid.identity[k]].value),
             "a block may be empty, and the fold of no points is not the identity");
  }

  // A cell of an operation with these dims.
  Term cell_of(const ir::Operation& operation, const Dims& dims, ir::CellId cell) {
    const Side side = side_of(after, operation, [this](ir::ValueId v) { return classes[v.index()]; });
    Cells mine(terms, side, dims);
    for (std::uint32_t k = 0; k < side.op->reads.size(); ++k) {
      const ir::Access& read = side.op->reads[k];
      const auto& [type, shape] = side.op->operands[read.tensor];
      std::vector<AffineExpr> rows = mine.rows(read);
      for (std::size_t axis = 0; axis < rows.size() && !read.fill && side.op->map(); ++axis)
        unless(least(rows[axis], box) >= 0 && greatest(rows[axis], box) + read.projection.shape[axis] <= shape[axis],
               "a part reads outside an operand");
      if (!read.coordinates.empty() || std::ranges::count(read.projection.shape, 1) < std::ssize(rows)) continue;
      // Beyond the last block, a fill may be used.
      Term plain = read_of(terms, side.operands[read.tensor], type, rows);
      ir::ValueId value = operation.operands[read.tensor];
      if (!claim.values[value.index()]) mine.replace(k, part(&operation, value, rows));
      else if (reads.count(plain) > 0) mine.replace(k, plain);
    }
    return mine.term(cell);
  }

  // A part's value at those coordinates; an operation before the reader must have computed it, at that point only.
  Term part(const ir::Operation* by, ir::ValueId value, const std::vector<AffineExpr>& rows) {
    const ir::Operation* first = after[claim.after].operations.data();
    do unless(by-- != first, "it reads a part that has no writer");
    while (by->results != std::vector{value});
    const ir::Operator& its = after[by->op];
    const bool reduces = its.reduce() != nullptr;
    bool plain = (reduces || its.map()) && its.writes.size() == 1 && its.blockings.empty();
    unless(plain && ++looked_at <= 1000, "a part is neither a map nor a reduction, or there are too many parts");
    const auto& [start, shape] = its.writes[0].projection;
    std::vector<AffineExpr> dims = rows, axes;
    for (std::uint32_t d : reduced)
      if (reduces) dims.push_back(unit(over, d));
    for (std::size_t axis = 0; axis < rows.size(); ++axis) axes.push_back(unit(its.dims.size(), axis));
    unless(dims.size() == its.dims.size() && start.rows == axes,
           "a part must have its axes first, then its reduction dims");
    std::set<std::size_t> used;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const auto& [name, range, role, keep, level] = its.dims[d];
      const bool axis = d < rows.size();
      std::size_t is = 0;
      while (is < over && dims[d] != unit(over, is)) ++is;
      unless(is < over && used.insert(is).second, "a part is read at the wrong point");
      unless(role == (axis ? ir::DimRole::parallel : ir::DimRole::reduction), "a dim of a part has the wrong role");
      bool whole = !axis || (range.lo == 0 && shape[d] == 1 && its.results[0].shape[d] == range.hi);
      unless(range == box.dims[is] && whole, "a dim of a part has the wrong range");
    }
    std::vector<ir::Constraint> points, expected = reduces ? constraints : points;
    for (const ir::Constraint& c : its.constraints) points.push_back({substituted(c.expr, dims, over), c.comparison});
    bool same = std::is_permutation(points.begin(), points.end(), expected.begin(), expected.end());
    Term is = cell_of(*by, {dims.begin(), dims.end()}, reduces ? its.reduce()->operands[0] : its.map()->values[0]);
    if (reduces) is = reduced_by(terms, after, its.reduce()->monoid, is);
    unless(same && its.results[0].element == terms[is].type, "a part has a different type or index space");
    return is;
  }
};

}  // namespace

// y[…] = the blocks in order, each with the values of its parts. The parts are new values, and are traced here.
Justify::Result Justify::justify(const ir::FoldOf& j) {
  constexpr auto obligation = Obligation::fold;
  const ir::Operator& a = *side_.op;
  auto is_new = [&](ir::ValueId v) { return !claim_.values[v.index()]; };
  if (std::ranges::all_of(side_.operation->results, is_new)) return {obligation, {}};
  Side before = numbering_.side(j.of);
  unless(before.op->reduce() && (a.map() || (a.reduce() && !a.dims.empty())),
         "the folded operation is not a reduction");
  Folded fold{before, context_.after, claim_, classes_};
  fold.look_at(j);
  const bool one = a.map() != nullptr;  // combine(identity, x) → x, by the law of the identity
  unless(!one || fold.box.dims.back().hi == 1, "it does not combine its blocks");
  std::optional<std::uint32_t> block;
  if (!one) block = static_cast<std::uint32_t>(a.dims.size() - 1);
  Match match(side_, before, in_order(fold.op, a.dims.size(), obligation, fold.reduced, block), obligation);
  Form expected = match.form();
  if (one) expected.monoid.reset(), expected.body = a.body.index();
  else match.insert(expected, *block, {"", fold.box.dims.back(), ir::DimRole::reduction});
  Cells own(match.terms(), side_, in_order(a, a.dims.size(), obligation));
  Dims dims;
  for (std::uint32_t d = 0; d < fold.over; ++d)
    if (fold.reduced.count(d) == 0 && (!one || d + 1 < fold.over)) dims.push_back(unit(fold.over, d));
  unless(a.writes.size() == expected.values.size() && dims.size() == a.dims.size(),
         "it does not combine the values of the fold");
  for (std::size_t k = 0; k < expected.values.size(); ++k) {
    ir::CellId cell = one ? a.map()->values[k] : a.reduce()->operands[k], root = fold.monoid.fold->roots[k];
    bool same = fold.cell_of(*side_.operation, dims, cell) == fold.cells[root.index()];
    match.expect(same, "component {} does not agree with the fold", k);
    expected.values[k] = own.term(cell);
  }
  match.is(expected);
  if (std::ranges::any_of(fold.monoid.components, [](const auto& c) { return is_float(c.type); }))
    context_.assumed.emplace_back(obligation, distributing_floats);
  laws(fold.monoid, *fold.reduced.begin() < j.dim, true);
  return {obligation, {j.of}};
}

}  // namespace tap::check
