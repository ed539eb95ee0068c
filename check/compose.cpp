// Composition: a read is replaced by the map that computes it.
#include <functional>

#include "check/justify.h"

namespace tap::check {

// The dims may include counters of producers.
Justify::Result Justify::justify(const ir::Composed& j) {
  constexpr auto obligation = Obligation::composition;
  Side before = numbering_.side(j.consumer);
  const ir::Operator& op = *side_.op;
  Match match(side_, before, in_order(*before.op, op.dims.size(), obligation), obligation);
  match.expect(before.op->map() || before.op->reduce(), "the consumer is neither a map nor a reduction");
  composed(match, match.before_cells(), before, j.reads, j.consumer.path);
  Form expected = match.form();
  for (std::size_t d = expected.dims.size(); d < op.dims.size(); ++d) {
    match.expect(op.dims[d].role == ir::DimRole::counter, "dim {} is new and not a counter", d);
    expected.dims.push_back(op.dims[d]);
  }
  match.is(expected);
  return {obligation, {j.consumer}};
}

namespace {

// The dims of a map that computes the cell at those coordinates: the inverse of its write. A dim of one point is
// constant; counters are the reader's.
Dims dims_at(const Match& match, const ir::Operator& map, const std::vector<AffineExpr>& cell,
             const ir::Operator& reader) {
  std::size_t over = reader.dims.size();
  Dims dims(map.dims.size());
  for (std::size_t d = 0; d < map.dims.size(); ++d) {
    const ir::IndexDim& dim = map.dims[d];
    if (dim.range.hi - dim.range.lo == 1) dims[d] = number(over, dim.range.lo);
    for (std::size_t r = 0; r < over; ++r)
      if (dim.role == ir::DimRole::counter && reader.dims[r].role == dim.role && reader.dims[r].level == dim.level) {
        match.expect(reader.dims[r].range == dim.range, "the counter of the producer has the wrong range");
        dims[d] = unit(over, r);
      }
  }
  const auto& rows = map.writes[0].projection.start.rows;
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    for (std::size_t d = 0; d < map.dims.size(); ++d) {
      std::int64_t c = rows[axis].coefficients[d];
      bool alone = std::count(rows[axis].coefficients.begin(), rows[axis].coefficients.end(), 0) + 1 ==
                   static_cast<std::ptrdiff_t>(map.dims.size());
      if ((c == 1 || c == -1) && alone) dims[d] = scale(cell[axis] - number(over, rows[axis].offset), c);
    }
  for (std::size_t d = 0; d < dims.size(); ++d)
    match.expect(dims[d].has_value(), "dim {} of the producer is not determined by the cell that it writes", d);
  return dims;
}

}  // namespace

namespace {

// The reads that a cell depends on, also through coordinates and fills.
void add_reads(const ir::Operator& op, ir::CellId cell, std::vector<bool>& seen, std::set<std::uint32_t>& found) {
  std::vector<ir::CellId> open{cell};
  while (!open.empty()) {
    const std::size_t k = open.back().index();
    open.pop_back();
    if (k >= seen.size() || seen[k]) continue;
    seen[k] = true;
    const ir::CellNode& node = op.exprs[ir::CellId(k)];
    open.insert(open.end(), node.args.begin(), node.args.end());
    if (node.op != ir::CellOp::read || node.attribute >= op.reads.size()) continue;
    found.insert(node.attribute);
    const ir::Access& read = op.reads[node.attribute];
    if (read.fill) open.push_back(*read.fill);
    for (const auto& coordinate : read.coordinates)
      if (coordinate) open.push_back(*coordinate);
  }
}

}  // namespace

// A fill may also read a replaced value, as in `t[i - 1 else u[i]]`, so `u` is replaced before `t`. Cells refuses fills
// that depend on each other in a cycle.
void Justify::composed(Match& match, Cells& into, const Side& reader, const std::vector<ir::ComposedRead>& reads,
                       const ir::Path& path) {
  std::vector<bool> seen(reader.op->exprs.size(), false), done(reads.size(), false);
  std::function<void(std::size_t)> put = [&](std::size_t k) {
    if (done[k]) return;
    done[k] = true;
    std::set<std::uint32_t> first;
    if (reads[k].read < reader.op->reads.size())
      if (const auto& fill = reader.op->reads[reads[k].read].fill) add_reads(*reader.op, *fill, seen, first);
    for (std::size_t other = 0; other < reads.size(); ++other)
      if (first.count(reads[other].read) > 0) put(other);
    composed(match, into, reader, reads[k], path);
  };
  for (std::size_t k = 0; k < reads.size(); ++k) put(k);
}

// The reader gets what the map writes there, rounded to the value's type, or out of bounds the fill.
void Justify::composed(Match& match, Cells& into, const Side& reader, const ir::ComposedRead& read,
                       const ir::Path& path) {
  match.expect(read.read < reader.op->reads.size(), "the reader has no read {}", read.read);
  const ir::Access& access = reader.op->reads[read.read];
  Side producer = numbering_.side(read.producer);
  match.expect(read.producer.path == path, "the producer is in a different graph");
  bool plain = producer.op->map() && producer.op->writes.size() == 1 && producer.op->blockings.empty();
  match.expect(plain, "the producer must be a map with one result that is not split");
  std::uint32_t result = producer.op->writes[0].tensor;
  match.expect(numbering_.same(producer.results[result], reader.operands[access.tensor]),
               "read {} does not read a result of operation {}", read.read, read.producer.operation.index());
  match.expect(numbering_.writers(path, producer.operation->results[result]).size() == 1,
               "the producer writes only a part of the value read");
  for (const auto& coordinate : access.coordinates) match.expect(!coordinate, "read {} is data-dependent", read.read);
  std::vector<AffineExpr> cell = into.rows(access);
  Cells cells(match.terms(), producer, dims_at(match, *producer.op, cell, *side_.op));
  composed(match, cells, producer, read.reads, path);
  const auto& [type, shape] = reader.op->operands[access.tensor];
  Terms& terms = match.terms();
  Term value = terms.apply(ir::CellOp::cast, type, {cells.term(producer.op->map()->values[0])});
  if (access.fill) {
    // 0 <= e and e < n on each axis where the index space does not imply it.
    Box box = box_of(*side_.op);
    std::optional<Term> inside;
    auto also = [&](ir::CellOp compare, Term a, Term b) {
      Term condition = terms.apply(compare, ElementType::boolean, {a, b});
      inside = inside ? terms.apply(ir::CellOp::logical_and, ElementType::boolean, {*inside, condition}) : condition;
    };
    for (std::size_t axis = 0; axis < shape.size() && !box.empty(); ++axis) {
      Term e = terms.affine(cell[axis]);
      if (least(cell[axis], box) < 0) also(ir::CellOp::less_equal, terms.affine(number(terms.dims(), 0)), e);
      if (greatest(cell[axis], box) >= shape[axis])
        also(ir::CellOp::less, e, terms.affine(number(terms.dims(), shape[axis])));
    }
    if (inside) value = terms.apply(ir::CellOp::select, type, {*inside, value, into.term(*access.fill)});
  }
  into.replace(read.read, value);
}

}  // namespace tap::check
