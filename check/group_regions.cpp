// Compares the declared accesses of a group with the needs of its operations: at each point of its dims it reads all
// that they read, and its results are written once, cell by cell.
#include <algorithm>

#include "check/justify.h"
#include "check/legal.h"
#include "support/checked.h"

namespace tap::check {

namespace {

// For a point p of the group's dims, lo(p) … hi(p) - 1; a lower approximation that holds for any point.
struct Span {
  AffineExpr lo, hi;
  ir::Range known = {};
  bool operator==(const Span&) const = default;
};
using Spans = std::vector<Span>;

// A demanded region, and the points that demand it: those where each row · p + its number is at least zero. In Y[i] =
// b[i] + b[7], b[i] = a[i - 2 else 0], point i demands a[i - 2] where i >= 2, and a[5] at all points.
struct Region {
  Spans spans;
  std::map<std::vector<std::int64_t>, std::int64_t> where = {};
};

// The needs of a group at a point, traced backwards from its writes there.
class Demand {
 public:
  Demand(const ir::Program& program, const ir::Operator& group) : program_(program), op_(group) {
    for (std::size_t d = 0; d < box_.rank(); ++d)
      point_.push_back({unit(box_.rank(), d), unit(box_.rank(), d) + number(box_.rank(), 1), box_.dims[d]});
  }

  void run() {
    if (box_.empty()) return check_empty();
    for (std::size_t o = inner_.operations.size(); o-- > 0;) {
      const ir::Operation& operation = inner_.operations[o];
      const ir::Operator& op = program_[operation.op];
      std::vector<Region> required;         // over the operation's dims
      for (bool invariant : {false, true})  // last, regions with a dim that makes no difference
        for (const ir::Access& write : op.writes) {
          if (write.invariant_dims.empty() == invariant) continue;
          ir::ValueId v = operation.results[write.tensor];
          for (const Region& region : used_[v.index()])
            add(required, dims_for(o, op, write, region, required.empty() ? anchored(o, op) : required[0].spans));
          for (std::size_t r = 0; r < inner_.outputs.size(); ++r)
            if (inner_.outputs[r] == v) add(required, {writes(o, op, write, r)});
        }
      // The reads of an inner group were checked when it was made.
      expect(Obligation::group, !op.region() || op.region()->kind == ir::RegionKind::group, "the group is missing");
      for (const Region& dims : required)
        for (const ir::Access& read : op.reads)
          add(used_[operation.operands[read.tensor].index()],
              {image(read, dims.spans, op.operands[read.tensor].shape), dims.where});
    }
    for (std::size_t k = 0; k < inner_.inputs.size(); ++k)
      for (const Region& region : used_[inner_.inputs[k].index()]) covered(k, region);
    for (std::size_t r = 0; r < op_.results.size(); ++r) partition(r);
  }

 private:
  // A group without points writes nothing; in an iterate without trips it never runs.
  void check_empty() const {
    for (const ir::IndexDim& dim : op_.dims)
      if (dim.role == ir::DimRole::counter && dim.range.lo >= dim.range.hi) return;
    for (const ir::TensorType& type : op_.results)
      expect(Obligation::writes_exact, std::ranges::count(type.shape, 0) > 0, "a group without points has a result");
  }
  Span constant(ir::Range r) const { return {number(box_.rank(), r.lo), number(box_.rank(), r.hi), r}; }
  // Empty regions demand nothing, neither in general nor at some point.
  void add(std::vector<Region>& list, Region region) const {
    for (const Span& span : region.spans) {
      const ir::Range known = span.known;
      if (before(span.hi, span.lo) || known.lo >= known.hi) return;
      for (const AffineExpr& room : {span.hi + number(box_.rank(), checked::sub(-1, known.lo)),
                                     number(box_.rank(), known.hi - 1) + scale(span.lo, -1)}) {
        if (greatest(room, box_) < 0) return;
        keep(region, room);
      }
    }
    for (Region& into : list)
      if (std::ranges::equal(into.spans, region.spans, alike)) return join(into, region);
    list.push_back(std::move(region));
  }
  static bool alike(const Span& a, const Span& b) { return a.lo == b.lo && a.hi == b.hi; }
  // Demanded where either is: separate regions would be as many as the paths that lead here.
  static void join(Region& into, const Region& region) {
    for (std::size_t d = 0; d < into.spans.size(); ++d) {
      ir::Range &known = into.spans[d].known, more = region.spans[d].known;
      known = {std::min(known.lo, more.lo), std::max(known.hi, more.hi)};
    }
    std::erase_if(into.where, [&](const auto& row) { return !region.where.contains(row.first); });
    for (auto& [row, offset] : into.where) offset = std::max(offset, region.where.at(row));
  }

  // The dims on which an operation runs for a point: as its anchors determine, else whole.
  Spans anchored(std::size_t operation, const ir::Operator& op) const {
    Spans dims;
    for (const ir::IndexDim& dim : op.dims) dims.push_back(constant(dim.range));
    for (const ir::GroupAnchor& a : region_.anchors)
      if (a.operation == operation) dims[a.inner_dim] = point_[a.dim];
    return dims;
  }

  static ir::Range both(ir::Range a, ir::Range b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }
  static Span clipped(Span span, ir::Range whole) {
    if (span.lo.is_constant()) span.lo.offset = std::max(span.lo.offset, whole.lo);
    if (span.hi.is_constant()) span.hi.offset = std::min(span.hi.offset, whole.hi);
    span.known = both(span.known, whole);
    return span;
  }
  // If two axes of a write bound one dim: the later span, unless the earlier one is a single value. Demanded only where
  // both meet.
  Span met_by_both(const Span& a, const Span& b, Region& region) const {
    keep(region, less(a.lo, b.hi));
    keep(region, less(b.lo, a.hi));
    Span best = greatest(a.hi - a.lo, box_) == 1 ? a : b;
    best.known = both(a.known, b.known);
    return best;
  }

  // The values of a dim for which a row meets some cells: first < c * i < last. All values, if c does not divide how
  // these move.
  Span turned(const AffineExpr& row, std::int64_t extent, std::size_t d, const Span& cells, Spans dims) const {
    Span known = dims[d];
    dims[d] = constant({0, 1});
    Span others = along(row, extent, dims);
    known.known = both(known.known, met(row.coefficients[d], others.known, cells.known));
    AffineExpr first = cells.lo - others.hi, last = cells.hi - others.lo;
    std::int64_t c = row.coefficients[d];
    if (c < 0) std::swap(first, last);
    for (AffineExpr* e : {&first, &last})
      for (std::int64_t& factor : e->coefficients)
        if (factor % c == 0) factor /= c;
        else return known;
    first.offset = checked::floor_div(first.offset, c) + 1;
    last.offset = -checked::floor_div(-last.offset, c);
    return within(known, {first, last}) ? known : Span{first, last, known.known};
  }
  // The i for which some cell of c * i + others is in the range.
  static ir::Range met(std::int64_t c, ir::Range others, ir::Range cells) {
    std::int64_t first = checked::sub(cells.lo, others.hi - 1), last = checked::sub(cells.hi - 1, others.lo);
    if (c < 0) std::swap(first, last);
    return {checked::sub(0, checked::floor_div(checked::sub(0, first), c)), checked::floor_div(last, c) + 1};
  }

  // Inverted rows give the spans of their dims; every other dim is whole, or as anchored. A dim that makes no
  // difference to the cell is where the operation is demanded, at one point at least.
  Region dims_for(std::size_t operation, const ir::Operator& op, const ir::Access& write, const Region& cells,
                  const Spans& others) const {
    const Spans anchors = anchored(operation, op);
    Region region{{}, cells.where};
    Spans& dims = region.spans;
    for (const ir::IndexDim& dim : op.dims)
      dims.push_back(dim.role == ir::DimRole::counter ? anchors[dims.size()] : constant(dim.range));
    for (std::uint32_t d : write.invariant_dims)
      if (before(others[d].lo + number(box_.rank(), 1), others[d].hi)) dims[d] = others[d];
    // Twice: in [i + j, i], the second axis bounds i, and then the first bounds j.
    for (int round = 0; round < 2; ++round)
      for (std::size_t axis = 0; axis < cells.spans.size(); ++axis) {
        const AffineExpr& row = write.projection.start.rows[axis];
        for (std::size_t d = 0; d < op.dims.size(); ++d)
          if (row.coefficients[d] != 0)
            dims[d] = met_by_both(
                dims[d],
                clipped(turned(row, write.projection.shape[axis], d, cells.spans[axis], dims), op.dims[d].range),
                region);
      }
    // An operation's anchors must cover what its readers demand, where they demand it.
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::vector<AffineExpr> low{less(dims[d].lo, anchors[d].lo)}, high{less(anchors[d].hi, dims[d].hi)};
      const bool covers = within(dims[d], anchors[d]) || (never(region, low) && never(region, high));
      expect(Obligation::group, covers || anchors[d] == constant(op.dims[d].range), "it is needed beyond its anchors");
    }
    for (const ir::Constraint& c : op.constraints) keep(region, along(c.expr, 1, dims).hi + number(box_.rank(), -1));
    return region;
  }
  // Demanded only where `room` is at least zero.
  void keep(Region& region, const AffineExpr& room) const {
    if (least(room, box_) >= 0) return;
    auto [it, fresh] = region.where.emplace(room.coefficients, room.offset);
    if (!fresh) it->second = std::min(it->second, room.offset);
  }

  Span along(const AffineExpr& row, std::int64_t extent, const Spans& dims) const {
    AffineExpr lo = number(box_.rank(), row.offset), hi = number(box_.rank(), row.offset + extent);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      AffineExpr first = dims[d].lo, last = dims[d].hi - number(box_.rank(), 1);
      if (row.coefficients[d] < 0) std::swap(first, last);
      lo = lo + scale(first, row.coefficients[d]), hi = hi + scale(last, row.coefficients[d]);
    }
    Box known;
    for (const Span& span : dims) known.dims.push_back(span.known);
    return {lo, hi, {least(row, known), checked::add(greatest(row, known), extent)}};
  }
  // Clipped to the tensor.
  Spans image(const ir::Access& access, const Spans& dims, const Shape& shape) const {
    Spans region;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      region.push_back(constant({0, shape[axis]}));
      if (!access.coordinates.empty() && access.coordinates[axis]) continue;
      const AffineExpr& row = access.projection.start.rows[axis];
      region.back() = clipped(along(row, access.projection.shape[axis], dims), {0, shape[axis]});
    }
    return region;
  }

  // The group's writes at a point are those of the operation on the dims that the point determines.
  Spans writes(std::size_t operation, const ir::Operator& op, const ir::Access& write, std::size_t result) const {
    Spans dims = anchored(operation, op), cells = image(write, dims, op.results[write.tensor].shape);
    for (const ir::Access& outer : op_.writes) {
      if (outer.tensor != result) continue;
      Spans mine = image(outer, point_, op_.results[result].shape);
      for (std::size_t axis = 0; axis < cells.size(); ++axis)
        expect(Obligation::group, within(mine[axis], cells[axis]), "result {}: one point writes only a part of axis {}",
               result, axis);
    }
    return dims;
  }

  bool before(const AffineExpr& a, const AffineExpr& b) const { return least(b - a, box_) >= 0; }
  bool within(const Span& a, const Span& b) const { return before(b.lo, a.lo) && before(a.hi, b.hi); }

  // No point that demands the region has all of these at least zero.
  bool never(const Region& used, const std::vector<AffineExpr>& these) const {
    Space space{box_, {}};
    for (const auto& [row, offset] : used.where) space.constraints.push_back({AffineExpr{row, offset}});
    for (const AffineExpr& e : these) space.constraints.push_back({e});
    return has_no_point(space);
  }
  AffineExpr less(const AffineExpr& a, const AffineExpr& b) const { return b - a + number(box_.rank(), -1); }

  // Cells out of bounds are not read; the fill is used.
  void covered(std::size_t operand, const Region& used) const {
    bool found = std::any_of(op_.reads.begin(), op_.reads.end(), [&](const ir::Access& read) {
      if (read.tensor != operand) return false;
      Spans mine = image(read, point_, op_.operands[operand].shape);
      for (std::size_t axis = 0; axis < mine.size(); ++axis) {
        const auto& [lo, hi, known] = used.spans[axis];
        const AffineExpr &first = mine[axis].lo, &end = mine[axis].hi;
        if (!before(first, lo) && !never(used, {less(lo, first), less(number(box_.rank(), known.lo), first)}))
          return false;
        if (!before(hi, end) && !never(used, {less(end, hi), less(end, number(box_.rank(), known.hi))})) return false;
      }
      return true;
    });
    expect(Obligation::reads_covered, found, "the group does not read all needed cells of operand {}", operand);
  }

  // On each axis the regions of one dim's points are contiguous, then those of the next dim; together they cover the
  // axis.
  void partition(std::size_t result) const {
    const Shape& shape = op_.results[result].shape;
    if (std::count(shape.begin(), shape.end(), 0) > 0) return;
    auto writes = std::ranges::count(op_.writes, result, &ir::Access::tensor);
    for (const ir::Access& write : op_.writes) {
      if (write.tensor != result) continue;
      std::vector<bool> used(box_.rank(), false);
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const AffineExpr& row = write.projection.start.rows[axis];
        std::int64_t extent = write.projection.shape[axis], reach = extent;
        for (std::size_t turn = 0; turn < box_.rank(); ++turn)
          for (std::size_t d = 0; d < box_.rank(); ++d)
            if ((row.coefficients[d] == reach || row.coefficients[d] == -reach) && !used[d])
              used[d] = true, reach = checked::mul(reach, box_.dims[d].hi - box_.dims[d].lo);
        bool exact = reach == shape[axis] && least(row, box_) == 0 && greatest(row, box_) + extent == reach;
        expect(Obligation::writes_exact, exact, "its parts of result {} do not partition axis {}", result, axis);
      }
      for (std::size_t d = 0; d < box_.rank(); ++d) {
        bool free = used[d] || box_.dims[d].hi - box_.dims[d].lo == 1 || op_.dims[d].role != ir::DimRole::parallel;
        free |= std::count(write.invariant_dims.begin(), write.invariant_dims.end(), d) > 0;
        for (const ir::Blocking& b : op_.blockings) free |= b.block_dim == d;  // each point is in one block
        expect(Obligation::writes_exact, free, "result {} is written again for each point of dim {}", result, d);
      }
    }
    expect(Obligation::writes_exact, writes == 1, "the group writes result {} by {} accesses", result, writes);
  }

  const ir::Program& program_;
  const ir::Operator& op_;
  const ir::RegionBody& region_ = *op_.region();
  const ir::Graph& inner_ = program_[region_.graph];
  Box box_ = box_of(op_);
  std::vector<std::vector<Region>> used_{inner_.values.size()};  // by inner value
  Spans point_;                                                  // of the group's dims
};

}  // namespace

void check_group(const ir::Program& program, const ir::Operator& op, Assumptions& assumed) {
  check_streams(program, op, assumed);
  Demand(program, op).run();
}

}  // namespace tap::check
