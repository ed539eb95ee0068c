// Reads: where each is evaluated, by the conditions that lead to it, and whether it leaves its tensor there.
//
//   if i > 0 then x[i - 1] else 0      x is read where i > 0, so that i - 1 is never -1
#include "check/legal.h"

#include <numeric>
#include <set>

namespace tap::check {

namespace {

using ir::CellId, ir::CellNode, ir::CellOp;

constexpr std::int64_t most_points = 1 << 16;
constexpr std::size_t most_bounds = 2000, most_visits = 100'000, deepest = 200;

// Divided by what all coefficients have in common; of integers nothing is lost.
AffineExpr reduced(AffineExpr e) {
  std::int64_t common = 0;
  for (std::int64_t c : e.coefficients) common = std::gcd(common, c);
  if (common <= 1) return e;
  for (std::int64_t& c : e.coefficients) c /= common;
  e.offset = checked::floor_div(e.offset, common);
  return e;
}

// All that is at least zero once dim d is gone: each lower bound of it against each upper one.
std::optional<std::vector<AffineExpr>> without(const std::vector<AffineExpr>& bounds, std::size_t d) {
  std::vector<AffineExpr> rest;
  for (const AffineExpr& lower : bounds) {
    const std::int64_t up = lower.coefficients[d];
    if (up == 0) rest.push_back(lower);
    for (const AffineExpr& upper : up > 0 ? bounds : std::vector<AffineExpr>{}) {
      const std::int64_t down = upper.coefficients[d];
      if (down >= 0) continue;
      rest.push_back(reduced(scale(lower, checked::sub(0, down)) + scale(upper, up)));
      if (rest.size() > most_bounds) return std::nullopt;
    }
  }
  return rest;
}

}  // namespace

bool has_no_point(const Space& space) try {
  if (space.box.empty()) return true;
  const std::size_t dims = space.box.rank();
  std::vector<AffineExpr> bounds;
  for (const ir::Constraint& c : space.constraints) {
    bounds.push_back(reduced(c.expr));
    if (c.comparison == ir::Comparison::equal_zero) bounds.push_back(reduced(scale(c.expr, -1)));
  }
  for (std::size_t d = 0; d < dims; ++d) {
    bounds.push_back(unit(dims, d) + number(dims, checked::sub(0, space.box.dims[d].lo)));
    bounds.push_back(scale(unit(dims, d), -1) + number(dims, checked::sub(space.box.dims[d].hi, 1)));
  }
  for (std::size_t d = 0; d < dims; ++d) {
    auto rest = without(bounds, d);
    if (!rest) return false;
    bounds = std::move(*rest);
  }
  return std::ranges::any_of(bounds, [](const AffineExpr& e) { return e.offset < 0; });
} catch (const Overflow&) { return false; }

namespace {

class Reads {
 public:
  explicit Reads(const ir::Operator& op) : op_(op) {
    if (auto* map = op.map()) add(map->values, {});
    if (auto* reduce = op.reduce()) add(reduce->operands, {});
  }

  bool run() {
    for (std::uint32_t k = 0; k < op_.reads.size() && op_.kernel(); ++k) decide(k, {});
    while (!open_.empty()) {
      const Visited here = open_.back();
      open_.pop_back();
      if (seen_.size() > most_visits) return false;
      visit(here);
    }
    return shown_;
  }

 private:
  // A condition on the way to a cell, and whether it is false there.
  using Conditions = std::set<std::pair<CellId, bool>>;
  using Visited = std::pair<CellId, Conditions>;

  void add(CellId cell, const Conditions& where) {
    if (seen_.emplace(cell, where).second) open_.emplace_back(cell, where);
  }
  void add(const std::vector<CellId>& cells, const Conditions& where) {
    for (CellId cell : cells) add(cell, where);
  }
  void add_if(CellId cell, Conditions where, CellId condition, bool negated) {
    where.emplace(condition, negated);
    add(cell, where);
  }

  void visit(const Visited& here) {
    const auto& [cell, where] = here;
    const CellNode& node = op_.exprs[cell];
    if (node.op == CellOp::select) {
      add(node.args[0], where);
      add_if(node.args[1], where, node.args[0], false);
      return add_if(node.args[2], where, node.args[0], true);
    }
    if (node.op == CellOp::logical_and || node.op == CellOp::logical_or) {
      add(node.args[0], where);
      return add_if(node.args[1], where, node.args[0], node.op == CellOp::logical_or);
    }
    add(node.args, where);
    if (node.op != CellOp::read) return;
    const ir::Access& read = op_.reads[node.attribute];
    for (const auto& coordinate : read.coordinates)
      if (coordinate) add(*coordinate, where);
    if (read.fill) add(*read.fill, where);
    decide(node.attribute, where);
  }

  void decide(std::uint32_t number, const Conditions& where) {
    const ir::Access& read = op_.reads[number];
    const Shape& shape = op_.operands[read.tensor].shape;
    const Box box = box_of(op_);
    for (std::size_t axis = 0; axis < shape.size() && !read.fill && !box.empty(); ++axis) {
      if (!read.coordinates.empty() && read.coordinates[axis]) continue;
      const AffineExpr& row = read.projection.start.rows[axis];
      if (is_of_a_block(row)) {
        shown_ = false;
        continue;
      }
      const std::int64_t room = checked::sub(shape[axis], read.projection.shape[axis]);
      if (least(row, box) >= 0 && greatest(row, box) <= room) continue;
      Space space{box, op_.constraints};
      for (const auto& [condition, negated] : where) add_truth(space.constraints, condition, negated, 0);
      Space below = space, above = space;
      const AffineExpr first = scale(row, -1) + AffineExpr::constant(box.rank(), -1),
                       last = row + AffineExpr::constant(box.rank(), checked::sub(-1, room));
      below.constraints.push_back({first, ir::Comparison::at_least_zero});
      above.constraints.push_back({last, ir::Comparison::at_least_zero});
      if (!has_no_point(below)) leaves(number, axis, space, first);
      if (!has_no_point(above)) leaves(number, axis, space, last);
    }
  }
  // A point and the number of its block say less together than they would alone.
  bool is_of_a_block(const AffineExpr& row) const {
    return std::ranges::any_of(
        op_.blockings, [&](const ir::Blocking& b) { return speaks_of(row, b.dim) && speaks_of(row, b.block_dim); });
  }
  // Where it leaves its tensor, if that is at one of the points.
  void leaves(std::uint32_t read, std::size_t axis, const Space& space, const AffineExpr& outside) {
    const bool looked_at = each_point(space.box, most_points, [&](const std::vector<std::int64_t>& point) {
      bool is = value_at(outside, point) >= 0;
      for (const ir::Constraint& c : space.constraints) is = is && holds_at(c, point);
      expect(Obligation::legal, !is, "read {} of `{}` leaves its tensor on axis {}: it is at {} there", read, op_.name,
             axis, is ? value_at(op_.reads[read].projection.start.rows[axis], point) : 0);
    });
    expect(Obligation::legal, looked_at || !space.constraints.empty(), "read {} of `{}` leaves its tensor on axis {}",
           read, op_.name, axis);
    shown_ = shown_ && looked_at;
  }

  // What holds where a condition does, as far as it is affine.
  void add_truth(std::vector<ir::Constraint>& all, CellId condition, bool negated, std::size_t depth) const {
    const CellNode& node = op_.exprs[condition];
    if (depth > deepest) return;
    if (node.op == CellOp::logical_not) return add_truth(all, node.args[0], !negated, depth + 1);
    if (node.op == (negated ? CellOp::logical_or : CellOp::logical_and))
      for (CellId arg : node.args) add_truth(all, arg, negated, depth + 1);
    const bool order = node.op == CellOp::less || node.op == CellOp::less_equal;
    const bool same = node.op == (negated ? CellOp::not_equal : CellOp::equal);
    const auto a = order || same ? affine(node.args[0], 0) : std::nullopt, b = a ? affine(node.args[1], 0) : a;
    if (!b) return;
    AffineExpr by = negated && order ? *a - *b : *b - *a;
    if (same) return all.push_back({by, ir::Comparison::equal_zero});
    if ((node.op == CellOp::less) != negated) by.offset = checked::sub(by.offset, 1);
    all.push_back({by, ir::Comparison::at_least_zero});
  }
  // Of i64 alone, which wraps where it does not fit.
  std::optional<AffineExpr> affine(CellId cell, std::size_t depth) const {
    const CellNode& node = op_.exprs[cell];
    const std::size_t dims = op_.dims.size();
    if (node.type != ElementType::i64 || depth > deepest) return std::nullopt;
    if (node.op == CellOp::index) return unit(dims, node.attribute);
    if (node.op == CellOp::constant) return number(dims, node.value.i);
    const bool sum = node.op == CellOp::add || node.op == CellOp::sub;
    const auto a = sum || node.op == CellOp::mul ? affine(node.args[0], depth + 1) : std::nullopt;
    const auto b = a ? affine(node.args[1], depth + 1) : std::nullopt;
    if (!b || (!sum && !a->is_constant() && !b->is_constant())) return std::nullopt;
    AffineExpr e = node.op == CellOp::add   ? *a + *b
                   : node.op == CellOp::sub ? *a - *b
                   : a->is_constant()       ? scale(*b, a->offset)
                                            : scale(*a, b->offset);
    least(e, box_of(op_)), greatest(e, box_of(op_));  // or Overflow
    return e;
  }

  const ir::Operator& op_;
  bool shown_ = true;
  std::set<Visited> seen_;
  std::vector<Visited> open_;
};

}  // namespace

bool reads_are_inside(const ir::Operator& op) { return op.region() || op.transfer() || Reads(op).run(); }

}  // namespace tap::check
