#include "check/justify.h"

#include <algorithm>

#include "support/checked.h"

namespace tap::check {

using ir::OperationRef;

const ir::GraphClaim* Context::claim_of(ir::GraphId now, ir::GraphId was) {
  for (const ir::GraphClaim& claim : claims)
    if (claim.after == now) return claim.before == was ? &claim : nullptr;
  const ir::Graph &a = after[now], &b = before[was];
  if (a.values.size() != b.values.size() || a.operations.size() != b.operations.size()) return nullptr;
  ir::GraphClaim claim{now, was, {}, {}, {}};
  for (std::size_t v = 0; v < a.values.size(); ++v) claim.values.push_back(ir::ValueRef{{}, ir::ValueId(v), {}});
  for (std::size_t o = 0; o < a.operations.size(); ++o)
    claim.operations.push_back(ir::Copied{{{}, ir::OperationId(o)}});
  claims.push_back(std::move(claim));
  return &claims.back();
}

Justify::Justify(Context& context, Places& places, const ir::GraphClaim& claim, const std::vector<Class>& classes)
    : context_(context), places_(places), claim_(claim), classes_(classes) {}

Side Justify::after_side(ir::OperationId id) const {
  const ir::Operation& operation = context_.after[claim_.after][id];
  Side side{&context_.after, &operation, &context_.after[operation.op]};
  for (ir::ValueId v : operation.operands) side.operands.push_back(places_.find(classes_[v.index()]));
  for (ir::ValueId v : operation.results) side.results.push_back(places_.find(classes_[v.index()]));
  return side;
}

std::pair<Obligation, StandsFor> Justify::operation(ir::OperationId id) {
  side_ = after_side(id);
  return std::visit([this](const auto& j) { return justify(j); }, claim_.operations[id.index()]);
}

Obligation Justify::same_operation(const Side& after, const Side& before) {
  if (before.op->region()) same_region(after, before);
  Match(places_, after, before, same_dims(after, before, Obligation::copied), Obligation::copied).everything();
  return Obligation::copied;
}

// The inner graphs compute the same by claims of their own.
void Justify::same_region(const Side& after, const Side& before) {
  const ir::RegionBody *a = after.op->region(), *b = before.op->region();
  expect(Obligation::copied, a && a->kind == b->kind, "a region became something else");
  expect(Obligation::copied, a->trips == b->trips, "{}..{} trips and {}..{} before", a->trips.lo, a->trips.hi,
         b->trips.lo, b->trips.hi);
  expect(Obligation::choice, a->alternatives.size() == b->alternatives.size(), "{} alternatives and {} before",
         a->alternatives.size(), b->alternatives.size());
  auto same_graph = [&](ir::GraphId now, ir::GraphId was) {
    const ir::GraphClaim* claim = context_.claim_of(now, was);
    bool same = claim && claim->steps == 1 && claim->first == 0;
    expect(Obligation::copied, same, "nothing is claimed of graph {} and graph {} before", now.index(), was.index());
  };
  same_graph(a->graph, b->graph);
  for (std::size_t k = 0; k < a->alternatives.size(); ++k)
    same_graph(a->alternatives[k].graph, b->alternatives[k].graph);
  if (a->kind == ir::RegionKind::group && !(a->anchors == b->anchors)) check_group(*after.program, *after.op);
}

Justify::Result Justify::justify(const ir::Copied& j) {
  Side before = places_.side(j.from);
  const ir::RegionBody* region = before.op->region();
  if (region && region->kind == ir::RegionKind::iterate) return {same_repetition(side_, before, j.from), {j.from}};
  if (before.op->transfer()) return {same_operation(side_, before), {}};
  return {same_operation(side_, before), {j.from}};
}

// By induction over the steps: the same state before a step gives the same state after it. The new body may do several steps
// of the old one, and the new repetition the first ones only.
Obligation Justify::same_repetition(const Side& after, const Side& before, const OperationRef& from) {
  const ir::RegionBody *a = after.op->region(), *b = before.op->region();
  auto unless = [](bool holds, const char* why) { expect(Obligation::induction, holds, "{}", why); };
  unless(a && a->kind == ir::RegionKind::iterate, "a repetition became something else");
  const ir::GraphClaim* claim = context_.claim_of(a->graph, b->graph);
  unless(claim, "nothing is claimed of the bodies");
  std::int64_t last = checked::add(checked::mul(claim->steps, a->trips.hi), claim->first);
  expect(Obligation::induction, checked::add(checked::mul(claim->steps, a->trips.lo), claim->first) == b->trips.lo,
         "the first step is not the step {}", b->trips.lo);
  expect(Obligation::induction, a->trips.lo <= a->trips.hi && last <= b->trips.hi,
         "it goes on to step {}, and ended before step {}", last, b->trips.hi);
  unless(after.operands.size() == before.operands.size(), "it has other operands");
  for (std::size_t k = 0; k < after.operands.size(); ++k)
    expect(Obligation::induction, places_.same(after.operands[k], before.operands[k]), "operand {} is another value",
           k);
  unless(after.results.size() == before.results.size(), "it has other results");
  ir::Path body = from.path;
  body.push_back(from.operation);
  for (std::size_t k = 0; k < after.results.size(); ++k) {
    Class state = before.results[k];
    if (last < b->trips.hi) state = places_.class_of({body, context_.before[b->graph].inputs[k], last});
    expect(Obligation::induction, places_.same(after.results[k], state), "result {} is not the state after {} steps", k,
           last - b->trips.lo);
  }
  return Obligation::induction;
}

Justify::Result Justify::justify(const ir::Simplified& j) {
  Side before = places_.side(j.from);
  Match match(places_, side_, before, same_dims(side_, before, Obligation::axioms), Obligation::axioms);
  match.expect(side_.op->dims.size() == before.op->dims.size(), "other dims");
  match.axioms(j.uses, j.terms);
  match.everything();
  return {Obligation::axioms, {j.from}};
}

// Counters of producers may be added to the dims.
Justify::Result Justify::justify(const ir::Composed& j) {
  Side before = places_.side(j.consumer);
  Match match(places_, side_, before, same_dims(side_, before, Obligation::composition), Obligation::composition);
  const ir::Operator& op = *side_.op;
  for (std::size_t d = before.op->dims.size(); d < op.dims.size(); ++d)
    match.expect(op.dims[d].role == ir::DimRole::counter, "dim {} is new and no counter", d);
  match.expect(before.op->map() || before.op->reduce(), "the consumer is neither a map nor a reduction");
  for (const ir::ComposedRead& read : j.reads) composed(match, match.before_cells(), before, read, j.consumer.path);
  match.dims();
  match.constraints();
  match.blockings();
  match.writes();
  match.body();
  return {Obligation::composition, {j.consumer}};
}

namespace {

// The dims of a map at which it computes the cell at those coordinates: the write turned round. A dim of one point is that
// point; counters are those of the reader.
std::vector<AffineExpr> dims_at(const Match& match, const ir::Operator& map, const std::vector<AffineExpr>& cell,
                                const ir::Operator& reader) {
  std::size_t over = reader.dims.size();
  std::vector<std::optional<AffineExpr>> dims(map.dims.size());
  for (std::size_t d = 0; d < map.dims.size(); ++d) {
    const ir::IndexDim& dim = map.dims[d];
    if (dim.range.hi - dim.range.lo == 1) dims[d] = number(over, dim.range.lo);
    for (std::size_t r = 0; r < over; ++r)
      if (dim.role == ir::DimRole::counter && reader.dims[r].role == dim.role && reader.dims[r].level == dim.level) {
        match.expect(reader.dims[r].range == dim.range, "the counter of the producer runs over another range");
        dims[d] = unit(over, r);
      }
  }
  const auto& rows = map.writes[0].projection.start.rows;
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    for (std::size_t d = 0; d < map.dims.size(); ++d) {
      std::int64_t c = rows[axis].coefficients[d];
      bool alone = std::count(rows[axis].coefficients.begin(), rows[axis].coefficients.end(), 0) + 1 ==
                   static_cast<std::ptrdiff_t>(map.dims.size());
      if ((c == 1 || c == -1) && alone) dims[d] = times(minus(cell[axis], number(over, rows[axis].offset)), c);
    }
  std::vector<AffineExpr> all;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    match.expect(dims[d].has_value(), "dim {} of the producer does not follow from the cell that it writes", d);
    all.push_back(*dims[d]);
  }
  return all;
}

}  // namespace

// What the reader reads is what the map writes there: rounded to the value's type, and outside of the value the fill.
void Justify::composed(Match& match, Cells& into, const Side& reader, const ir::ComposedRead& read,
                       const ir::Path& path) {
  match.expect(read.read < reader.op->reads.size(), "the reader has no read {}", read.read);
  const ir::Access& access = reader.op->reads[read.read];
  Side producer = places_.side(read.producer);
  match.expect(read.producer.path == path, "the producer lies in another graph");
  match.expect(producer.op->map() && producer.op->writes.size() == 1, "the producer is no map of one result");
  match.expect(producer.op->blockings.empty(), "the producer is cut into blocks");
  match.expect(places_.same(producer.results[producer.op->writes[0].tensor], reader.operands[access.tensor]),
               "read {} is not of what operation {} writes", read.read, read.producer.operation.index());
  ir::ValueId value = producer.operation->results[producer.op->writes[0].tensor];
  match.expect(places_.writers(path, value).size() == 1, "the producer writes only a part of what is read");
  for (const auto& coordinate : access.coordinates)
    match.expect(!coordinate, "read {} is at a place that depends on data", read.read);
  std::vector<AffineExpr> cell = into.rows(access), at = dims_at(match, *producer.op, cell, *side_.op);
  Cells cells(match.terms(), producer, at);
  for (const ir::ComposedRead& inner : read.reads) composed(match, cells, producer, inner, path);
  ElementType type = reader.op->operands[access.tensor].element;
  Terms& terms = match.terms();
  Term result = terms.apply(ir::CellOp::cast, type, {cells.term(producer.op->map()->values[0])});
  if (access.fill) {
    // 0 <= e and e < n on each axis where the index space alone does not say so.
    Ranges box = space_of(*side_.op).box;
    const Shape& shape = reader.op->operands[access.tensor].shape;
    std::optional<Term> inside;
    auto also = [&](ir::CellOp compare, Term a, Term b) {
      Term condition = terms.apply(compare, ElementType::boolean, {a, b});
      inside = inside ? terms.apply(ir::CellOp::logical_and, ElementType::boolean, {*inside, condition}) : condition;
    };
    for (std::size_t axis = 0; axis < shape.size() && !no_points(box); ++axis) {
      Term e = terms.affine(cell[axis]), zero = terms.affine(number(terms.dims(), 0));
      if (least(cell[axis], box) < 0) also(ir::CellOp::less_equal, zero, e);
      if (greatest(cell[axis], box) >= shape[axis])
        also(ir::CellOp::less, e, terms.affine(number(terms.dims(), shape[axis])));
    }
    if (inside) result = terms.apply(ir::CellOp::select, type, {*inside, result, into.term(*access.fill)});
  }
  into.replace(read.read, result);
}

// A new block dim numbers the blocks of one dim, which they tile in order; cut again, a block is cut by count.
void Justify::new_block(const ir::Operator& op, const ir::Blocking& blocking, std::size_t among,
                        std::size_t cuts) const {
  auto unless = [](bool holds, const char* why) { expect(Obligation::blocks_partition, holds, "{}", why); };
  const ir::IndexDim &dim = op.dims[blocking.dim], &block = op.dims[blocking.block_dim];
  const auto& bounds = blocking.blocks.boundaries;
  std::int64_t count = blocking.blocks.count, hi = std::max(dim.range.lo, dim.range.hi);
  expect(Obligation::blocks_partition, count >= 1 && block.range == ir::Range{0, count}, "{} blocks numbered {}..{}",
         count, block.range.lo, block.range.hi);
  unless(!dim.keep && dim.role != ir::DimRole::counter, "a dim is cut that must not be");
  if (!bounds.empty()) {
    unless(static_cast<std::int64_t>(bounds.size()) == count + 1, "there are not as many boundaries as blocks and one");
    expect(Obligation::blocks_partition, bounds.front() == dim.range.lo && bounds.back() == hi,
           "the blocks run over {}..{} and the dim over {}..{}", bounds.front(), bounds.back(), dim.range.lo, hi);
    unless(std::is_sorted(bounds.begin(), bounds.end()), "the boundaries of the blocks do not increase");
  }
  std::size_t cut_by_it = 0;
  for (std::size_t k = 0; k < op.blockings.size(); ++k) {
    const ir::Blocking& other = op.blockings[k];
    cut_by_it += other.block_dim == blocking.block_dim;
    unless(other.dim != blocking.block_dim || k < among, "a dim is cut after it cuts");
    unless(other.dim != blocking.dim || k >= among || bounds.empty(), "blocks of blocks have written boundaries");
  }
  unless(cut_by_it == cuts, "one block dim cuts several dims");
}

Justify::Result Justify::justify(const ir::BlockedFrom& j) {
  Side before = places_.side(j.from);
  const ir::Operator &a = *side_.op, &b = *before.op;
  Match match(places_, side_, before, same_dims(side_, before, Obligation::blocks_partition),
              Obligation::blocks_partition);
  match.expect(a.dims.size() >= b.dims.size() && a.blockings.size() >= b.blockings.size(),
               "dims or blockings are gone");
  std::size_t more = a.blockings.size() - b.blockings.size();
  match.expect(a.dims.size() == b.dims.size() + more, "{} new dims number the blocks of {} new blockings",
               a.dims.size() - b.dims.size(), more);
  bool group = b.region() && b.region()->kind == ir::RegionKind::group;
  match.expect(b.map() || b.reduce() || b.kernel() || group, "only maps, reductions, kernels and groups are cut");
  if (group) same_region(side_, before);
  match.dims();
  for (std::size_t k = b.blockings.size(); k < a.blockings.size(); ++k) {
    const ir::Blocking& blocking = a.blockings[k];
    match.expect(blocking.block_dim >= b.dims.size() && blocking.dim < a.dims.size(), "blocking {} is by an old dim",
                 k);
    new_block(a, blocking, k);
    const ir::IndexDim &dim = a.dims[blocking.dim], &block = a.dims[blocking.block_dim];
    match.expect(block.role == dim.role && !block.keep, "the block dim {} is of another kind than what it cuts",
                 blocking.block_dim);
  }
  match.constraints();
  match.blockings(more);
  match.writes();
  match.body();
  return {Obligation::blocks_partition, {j.from}};
}

void Justify::laws(const ir::Monoid& monoid, bool in_any_order) {
  auto need = [&](ir::Law law, const char* what) {
    expect(Obligation::laws, law == ir::Law::proved || law == ir::Law::assumed, "the monoid `{}` is not known to {}",
           monoid.name, what);
    if (law == ir::Law::assumed)
      context_.assumed.emplace_back(Obligation::laws, fmt::format("the monoid `{}`: to {}", monoid.name, what));
  };
  need(monoid.laws.associative, "be associative");
  need(monoid.laws.identity, "have its identity");
  if (in_any_order) need(monoid.laws.commutative, "be commutative");
}

// p[r, …] = the reduction over block r alone.
Justify::Result Justify::justify(const ir::PartialOf& j) {
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  auto unless = [](bool holds, const char* why) { expect(Obligation::reduction_partition, holds, "{}", why); };
  unless(a.reduce() && b.reduce(), "only a reduction has partials");
  unless(a.dims.size() == b.dims.size() + 1 && j.block_dim < a.dims.size(), "partials have one dim more");
  unless(j.dim < b.dims.size() && b.dims[j.dim].role == ir::DimRole::reduction, "the dim that is cut is not reduced");
  for (ir::ValueId v : side_.operation->results) unless(!claim_.values[v.index()], "partials are new values");
  Dims dims;
  for (std::uint32_t d = 0; d < b.dims.size(); ++d)
    dims.place.push_back(d + (d >= j.block_dim)), dims.value.push_back({});
  Match match(places_, side_, before, dims, Obligation::reduction_partition);
  match.dims();
  match.constraints();
  match.blockings(1);
  const ir::Blocking& cut = a.blockings.back();
  match.expect(cut.dim == *dims.place[j.dim] && cut.block_dim == j.block_dim, "the last blocking is not that of dim {}",
               j.dim);
  match.expect(a.dims[j.block_dim].role == ir::DimRole::parallel, "the block dim is not parallel");
  new_block(a, cut, a.blockings.size() - 1);
  const ir::Monoid& monoid = context_.before[b.reduce()->monoid];
  match.expect(a.results.size() == a.writes.size() && a.writes.size() == monoid.components.size(),
               "{} results of {} components", a.results.size(), monoid.components.size());
  for (std::size_t k = 0; k < a.writes.size(); ++k) {
    ir::TensorType type{monoid.components[k].type, b.results[b.writes[k].tensor].shape};
    type.shape.insert(type.shape.begin(), cut.blocks.count);
    match.expect(a.writes[k].tensor == k && a.results[k] == type, "partial {} is not of the type of its component", k);
    match.write_place(k, true, j.block_dim);
  }
  match.body();
  bool others = false;
  for (std::size_t d = 0; d < j.dim; ++d) {
    bool walk = std::any_of(b.blockings.begin(), b.blockings.end(), [d](auto& old) { return old.block_dim == d; });
    others |= b.dims[d].role == ir::DimRole::reduction && !walk;
  }
  for (const ir::Blocking& old : b.blockings)
    others |= old.dim == j.dim && b.dims[old.block_dim].role == ir::DimRole::reduction;
  laws(monoid, others);
  return {Obligation::reduction_partition, {}};
}

// y[…] = the partials p[r, …] in the order of r, over the same cells as the reduction.
Justify::Result Justify::justify(const ir::CombinationOf& j) {
  auto unless = [](bool holds, const char* why) { expect(Obligation::reduction_partition, holds, "{}", why); };
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  const auto& all = claim_.operations;
  unless(j.partial.index() < all.size(), "the partials are not there");
  const auto* of = std::get_if<ir::PartialOf>(&all[j.partial.index()]);
  unless(of && of->of == j.of, "what is combined are not the partials of that reduction");
  Side partial = after_side(j.partial);
  unless(!partial.op->blockings.empty() && partial.results.size() == b.writes.size(), "the partials are no partials");
  const ir::Blocking& cut = partial.op->blockings.back();
  unless(a.reduce(), "the combination is no reduction");
  // Its dims: those of the reduction that are not reduced, and the block's number, reduced.
  std::optional<std::uint32_t> block;
  for (std::uint32_t d = 0; d < a.dims.size(); ++d) {
    if (a.dims[d].role != ir::DimRole::reduction) continue;
    unless(!block, "the combination reduces more than the blocks");
    block = d;
  }
  unless(block && a.dims[*block].range == ir::Range{0, cut.blocks.count},
         "the combination does not run over every block once");
  Dims dims{std::vector<std::optional<std::uint32_t>>(b.dims.size()),
            std::vector<AffineExpr>(b.dims.size(), number(a.dims.size(), 0))};
  std::uint32_t next = 0;
  for (std::size_t d = 0; d < b.dims.size(); ++d) {
    if (b.dims[d].role == ir::DimRole::reduction) continue;
    if (block == next) ++next;
    unless(next < a.dims.size(), "the combination lacks a dim of what it writes");
    dims.place[d] = next++;
  }
  Match match(places_, side_, before, dims, Obligation::reduction_partition);
  match.expect(next + (block == next) == a.dims.size(), "{} dims", a.dims.size());
  match.dims();
  match.monoid();
  match.writes();
  std::vector<ir::Constraint> kept_constraints;
  for (const ir::Constraint& c : b.constraints) {
    bool of_reduction = false;
    for (std::size_t d = 0; d < b.dims.size(); ++d) of_reduction |= !dims.place[d] && speaks_of(c.expr, d);
    if (!of_reduction) kept_constraints.push_back({match.before_cells().placed(c.expr), c.comparison});
  }
  std::vector<ir::Blocking> kept_blockings;
  for (const ir::Blocking& old : b.blockings)
    if (dims.place[old.dim])
      kept_blockings.push_back({*dims.place[old.dim], dims.place[old.block_dim].value_or(0), old.blocks});
  match.expect(a.blockings == kept_blockings, "the combination is cut in another way than the reduction");
  match.expect(a.constraints == kept_constraints, "the combination writes other cells");
  for (std::size_t k = 0; k < a.writes.size(); ++k) {
    Terms::Node wanted{Terms::Kind::read, ir::CellOp::read, partial.op->results[k].element, {}, {}};
    wanted.data.push_back(partial.results[k]);
    std::vector<AffineExpr> rows{unit(a.dims.size(), *block)};
    for (const AffineExpr& row : a.writes[k].projection.start.rows) rows.push_back(row);
    for (const AffineExpr& row : rows) {
      wanted.data.insert(wanted.data.end(), {0, 1, row.offset});
      wanted.data.insert(wanted.data.end(), row.coefficients.begin(), row.coefficients.end());
    }
    wanted.data.push_back(0);
    match.expect(match.after_cells().term(a.reduce()->operands[k]) == match.terms().add(wanted),
                 "component {} is not that of the partial of the same number and cell", k);
  }
  return {Obligation::reduction_partition, {j.of}};
}

// The operation with the number of its step in the place of the counter of its repetition.
Justify::Result Justify::justify(const ir::StepOf& j) {
  Side before = places_.side(j.from, j.step);
  const ir::Operator &a = *side_.op, &b = *before.op;
  bool several = claim_.steps != 1 || claim_.first != 0;
  std::size_t over = a.dims.size();
  std::optional<std::uint32_t> counter;
  for (std::uint32_t d = 0; d < over && several; ++d)
    if (a.dims[d].role == ir::DimRole::counter && a.dims[d].level == 0) counter = d;
  Dims dims;
  std::uint32_t next = 0;
  for (std::size_t d = 0; d < b.dims.size(); ++d) {
    bool is_counter = b.dims[d].role == ir::DimRole::counter && b.dims[d].level == 0;
    dims.place.push_back(is_counter ? std::nullopt : std::optional(next));
    dims.value.push_back(number(over, several ? checked::add(claim_.first, j.step) : j.step));
    if (is_counter && several && counter)
      dims.value.back() = plus(dims.value.back(), times(unit(over, *counter), claim_.steps));
    if (!is_counter || (several && counter == next)) ++next;
    expect(Obligation::unroll, !is_counter || !several || counter, "the counter is gone");
  }
  expect(Obligation::unroll, next == over, "{} dims and {} before", over, b.dims.size());
  Match match(places_, side_, before, dims, Obligation::unroll);
  for (std::size_t d = 0; d < b.dims.size(); ++d) {
    if (!dims.place[d]) continue;
    const ir::IndexDim &now = a.dims[*dims.place[d]], &was = b.dims[d];
    std::uint32_t level = was.role == ir::DimRole::counter && !several ? was.level - 1 : was.level;
    match.expect(now.range == was.range && now.role == was.role && now.level == level && now.keep == was.keep,
                 "dim {} is another", d);
  }
  if (b.region()) {
    // What is inside counts the same repetitions only if it does not speak of this one.
    same_region(side_, before);
  }
  match.constraints();
  match.blockings();
  match.writes();
  match.body();
  return {Obligation::unroll, {j.from}};
}

std::vector<Term> combined(Terms& terms, const ir::Monoid& monoid, const std::vector<Term>& earlier,
                           const std::vector<Term>& later) {
  std::vector<Term> made, roots;
  for (std::size_t k = 0; k < monoid.exprs.size(); ++k) {
    const ir::CellNode& node = monoid.exprs[ir::CellId(k)];
    std::vector<Term> args;
    for (ir::CellId arg : node.args) args.push_back(made[arg.index()]);
    bool first = node.attribute < earlier.size();
    if (node.op == ir::CellOp::constant) made.push_back(terms.constant(node.value));
    else if (node.op != ir::CellOp::argument) made.push_back(terms.apply(node.op, node.type, std::move(args)));
    else made.push_back(first ? earlier[node.attribute] : later[node.attribute - earlier.size()]);
  }
  for (ir::CellId root : monoid.combine) roots.push_back(made[root.index()]);
  return roots;
}

// y = combine(identity, operand) at the one point of the reduction, or its identity.
Justify::Result Justify::justify(const ir::PointOf& j) {
  Side before = places_.side(j.of);
  const ir::Operator &a = *side_.op, &b = *before.op;
  expect(Obligation::point, a.map() && b.reduce(), "a reduction becomes a map");
  std::size_t over = a.dims.size();
  Dims dims;
  std::uint32_t next = 0;
  auto is_empty = [](const ir::IndexDim& d) { return d.role == ir::DimRole::reduction && d.range.hi <= d.range.lo; };
  const bool nothing = std::any_of(b.dims.begin(), b.dims.end(), is_empty);
  for (const ir::IndexDim& dim : b.dims) {
    bool reduced = dim.role == ir::DimRole::reduction;
    expect(Obligation::point, !reduced || nothing || dim.range.hi - dim.range.lo <= 1, "{} points are reduced",
           dim.range.hi - dim.range.lo);
    dims.place.push_back(reduced ? std::nullopt : std::optional(next++));
    dims.value.push_back(number(over, dim.range.lo));
  }
  expect(Obligation::point, next == over, "{} dims, and {} are not reduced", over, next);
  Match match(places_, side_, before, dims, Obligation::point);
  match.dims();
  match.expect(b.blockings.empty() && a.blockings.empty(), "it is cut into blocks");
  bool by_reduction = false;
  std::vector<ir::Constraint> wanted;
  for (const ir::Constraint& c : b.constraints) {
    bool of_reduction = false;
    for (std::size_t d = 0; d < b.dims.size(); ++d) of_reduction |= !dims.place[d] && speaks_of(c.expr, d);
    by_reduction |= of_reduction;
    if (!of_reduction) wanted.push_back({match.before_cells().placed(c.expr), c.comparison});
  }
  match.expect(nothing || !by_reduction, "a constraint says which cells combine a point");
  match.expect(a.constraints == wanted, "the map writes other cells");
  match.writes();
  const ir::Monoid& monoid = context_.before[b.reduce()->monoid];
  Terms& terms = match.terms();
  std::vector<Term> identity, made;
  for (ir::CellId cell : monoid.identity) identity.push_back(terms.constant(monoid.exprs[cell].value));
  for (ir::CellId cell : b.reduce()->operands) made.push_back(nothing ? 0 : match.before_cells().term(cell));
  made = nothing ? identity : combined(terms, monoid, identity, made);
  for (std::size_t k = 0; k < made.size(); ++k)
    match.expect(match.after_cells().term(a.map()->values[k]) == made[k],
                 "value {} is not the one point of the reduction", k);
  return {Obligation::point, {j.of}};
}

}  // namespace tap::check
