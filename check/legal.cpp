// Legality of reads: the conditions under which each read is evaluated, and whether it is in bounds there.
//
//   if i > 0 then x[i - 1] else 0      x is read where i > 0, so that i - 1 is never -1
//   x[i else u[i - 8]], x of f32[8]    u is read where i < 0 or i > 7
#include "check/legal.h"

#include <numeric>
#include <set>

namespace tap::check {

namespace {

using ir::CellId, ir::CellNode, ir::CellOp;

constexpr std::int64_t most_points = 1 << 16;
constexpr std::size_t most_bounds = 2000, most_visits = 100'000, max_disjuncts = 64, max_constraints = 1000;

// Divided by the gcd of the coefficients, which loses nothing for integers.
AffineExpr reduced(AffineExpr e) {
  std::int64_t common = 0;
  for (std::int64_t c : e.coefficients) common = std::gcd(common, c);
  if (common <= 1) return e;
  for (std::int64_t& c : e.coefficients) c /= common;
  e.offset = checked::floor_div(e.offset, common);
  return e;
}

// Fourier-Motzkin elimination of dim d: combines each lower bound of d with each upper one.
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

// The affine consequences of a condition, as a disjunction: wherever it holds, so do all constraints of one of the
// lists. Without lists, it never holds. Ignores conditions that are not affine, and beyond the limit on cases uses
// fewer facts, which is also sound.
//
//   i != 3            i - 4 >= 0, or 2 - i >= 0
//   i < 4 and u[i]    3 - i >= 0
using Disjunction = std::vector<std::vector<ir::Constraint>>;

Disjunction conjoin(Disjunction a, const Disjunction& b) {
  Disjunction all;
  std::size_t total = 0;
  for (const auto& one : a)
    for (const auto& other : b) {
      all.push_back(one);
      all.back().insert(all.back().end(), other.begin(), other.end());
      if (all.size() > max_disjuncts || (total += all.back().size()) > max_constraints) return a;
    }
  return all;
}
Disjunction disjoin(Disjunction a, const Disjunction& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a.size() > max_disjuncts ? Disjunction{{}} : a;
}

// A fact that holds where a cell is computed: another cell is true, or false; or a read is out of bounds, so that its
// fill is used.
struct Fact {
  enum class Kind { holds, fails, out_of_bounds } kind;
  CellId cell;
  auto operator<=>(const Fact&) const = default;
};

// Each cell comes after the cells that it depends on.
class Conditions {
 public:
  explicit Conditions(const ir::Operator& op) : op_(op), box_(box_of(op)) {
    for (std::size_t k = 0; k < op.exprs.size(); ++k) {
      affine_.push_back(affine(op.exprs[CellId(k)]));
      holds_.push_back(disjuncts(op.exprs[CellId(k)], false));
      fails_.push_back(disjuncts(op.exprs[CellId(k)], true));
    }
  }
  Disjunction disjuncts(const std::set<Fact>& all) const {
    Disjunction together{{}};
    for (const auto& [kind, cell] : all)
      together = conjoin(std::move(together), kind == Fact::Kind::out_of_bounds
                                                  ? outside(op_.reads[op_.exprs[cell].attribute])
                                                  : (kind == Fact::Kind::holds ? holds_ : fails_)[cell.index()]);
    return together;
  }

 private:
  Disjunction disjuncts(const CellNode& node, bool negated) const {
    auto arg = [&](std::size_t k, bool fails) { return (fails ? fails_ : holds_)[node.args[k].index()]; };
    const bool order = node.op == CellOp::less || node.op == CellOp::less_equal;
    if (order || node.op == CellOp::equal || node.op == CellOp::not_equal) return compared(node, negated);
    if (node.type != ElementType::boolean) return {{}};
    if (node.op == CellOp::constant && (node.value.i != 0) == negated) return {};
    if (node.op == CellOp::logical_not) return arg(0, !negated);
    if (node.op == (negated ? CellOp::logical_or : CellOp::logical_and))
      return conjoin(arg(0, negated), arg(1, negated));
    if (node.op == (negated ? CellOp::logical_and : CellOp::logical_or))
      return disjoin(arg(0, negated), arg(1, negated));
    if (node.op != CellOp::select) return {{}};
    return disjoin(conjoin(arg(0, false), arg(1, negated)), conjoin(arg(0, true), arg(2, negated)));
  }

  void fits(const AffineExpr& e) const {  // throws Overflow if not
    if (!box_.empty()) least(e, box_), greatest(e, box_);
  }
  Disjunction at_least(std::int64_t less, AffineExpr e) const {
    e.offset = checked::sub(e.offset, less);
    fits(e);
    if (!box_.empty() && greatest(e, box_) < 0) return {};
    return {{{std::move(e), ir::Comparison::at_least_zero}}};
  }
  // a < b is b - a >= 1, a <= b is b - a >= 0; a != b is a < b or b < a. Nothing follows from cells that may wrap.
  Disjunction compared(const CellNode& node, bool negated) const try {
    const auto &a = affine_[node.args[0].index()], &b = affine_[node.args[1].index()];
    if (!a || !b) return {{}};
    fits(*a), fits(*b);
    if (node.op == CellOp::less) return negated ? at_least(0, *a - *b) : at_least(1, *b - *a);
    if (node.op == CellOp::less_equal) return negated ? at_least(1, *a - *b) : at_least(0, *b - *a);
    const Disjunction unequal = disjoin(at_least(1, *b - *a), at_least(1, *a - *b));
    return (node.op == CellOp::equal) == negated ? unequal : Disjunction{{{*b - *a, ir::Comparison::equal_zero}}};
  } catch (const Overflow&) { return {{}}; }

  // Out of bounds below or above on one of its axes; unknown for a data-dependent coordinate.
  Disjunction outside(const ir::Access& read) const try {
    Disjunction all;
    const Shape& shape = op_.operands[read.tensor].shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!read.coordinates.empty() && read.coordinates[axis]) return {{}};
      const AffineExpr& row = read.projection.start.rows[axis];
      const std::int64_t room = checked::sub(shape[axis], read.projection.shape[axis]);
      all = disjoin(disjoin(std::move(all), at_least(1, scale(row, -1))), at_least(checked::add(room, 1), row));
    }
    return all;
  } catch (const Overflow&) { return {{}}; }

  // Only for i64, which wraps: sums and products by constants agree with affine ones if the final value fits.
  std::optional<AffineExpr> affine(const CellNode& node) const try {
    if (node.type != ElementType::i64) return std::nullopt;
    if (node.op == CellOp::index) return unit(op_.dims.size(), node.attribute);
    if (node.op == CellOp::constant) return number(op_.dims.size(), node.value.i);
    std::vector<AffineExpr> args;
    for (CellId arg : node.args)
      if (affine_[arg.index()]) args.push_back(*affine_[arg.index()]);
    if (args.empty() || args.size() < node.args.size()) return std::nullopt;
    if (node.op == CellOp::neg) return scale(args[0], -1);
    if (node.op == CellOp::add) return args[0] + args[1];
    if (node.op == CellOp::sub) return args[0] - args[1];
    if (node.op == CellOp::mul && args[0].is_constant()) return scale(args[1], args[0].offset);
    if (node.op == CellOp::mul && args[1].is_constant()) return scale(args[0], args[1].offset);
    return std::nullopt;
  } catch (const Overflow&) { return std::nullopt; }

  const ir::Operator& op_;
  const Box box_;
  std::vector<std::optional<AffineExpr>> affine_;  // by cell
  std::vector<Disjunction> holds_, fails_;
};

class Reads {
 public:
  explicit Reads(const ir::Operator& op) : op_(op) {
    if (auto* map = op.map()) add(map->values, {});
    if (auto* reduce = op.reduce()) add(reduce->operands, {});
  }

  bool run() {
    for (std::uint32_t k = 0; k < op_.reads.size() && op_.kernel(); ++k) decide(k, {});
    while (!open_.empty()) {
      const Visited current = open_.back();
      open_.pop_back();
      if (seen_.size() > most_visits) return false;
      visit(current);
    }
    return shown_;
  }

 private:
  using Facts = std::set<Fact>;  // on the path to a cell
  using Kind = Fact::Kind;
  using Visited = std::pair<CellId, Facts>;

  void add(CellId cell, const Facts& where) {
    if (seen_.emplace(cell, where).second) open_.emplace_back(cell, where);
  }
  void add(const std::vector<CellId>& cells, const Facts& where) {
    for (CellId cell : cells) add(cell, where);
  }
  void add_if(CellId cell, Facts where, Kind kind, CellId of) {
    where.insert({kind, of});
    add(cell, where);
  }

  void visit(const Visited& current) {
    const auto& [cell, where] = current;
    const CellNode& node = op_.exprs[cell];
    if (node.op == CellOp::select) {
      add(node.args[0], where);
      add_if(node.args[1], where, Kind::holds, node.args[0]);
      return add_if(node.args[2], where, Kind::fails, node.args[0]);
    }
    if (node.op == CellOp::logical_and || node.op == CellOp::logical_or) {
      add(node.args[0], where);
      return add_if(node.args[1], where, node.op == CellOp::logical_or ? Kind::fails : Kind::holds, node.args[0]);
    }
    add(node.args, where);
    if (node.op != CellOp::read) return;
    const ir::Access& read = op_.reads[node.attribute];
    for (const auto& coordinate : read.coordinates)
      if (coordinate) add(*coordinate, where);
    if (read.fill) add_if(*read.fill, where, Kind::out_of_bounds, cell);
    decide(node.attribute, where);
  }

  void decide(std::uint32_t number, const Facts& where) {
    const ir::Access& read = op_.reads[number];
    const Shape& shape = op_.operands[read.tensor].shape;
    const Box box = box_of(op_);
    std::optional<Disjunction> disjuncts;
    for (std::size_t axis = 0; axis < shape.size() && !read.fill && !box.empty(); ++axis) {
      if (!read.coordinates.empty() && read.coordinates[axis]) continue;
      const AffineExpr& row = read.projection.start.rows[axis];
      if (is_of_a_block(row)) {
        shown_ = false;
        continue;
      }
      const std::int64_t room = checked::sub(shape[axis], read.projection.shape[axis]);
      if (least(row, box) >= 0 && greatest(row, box) <= room) continue;
      const AffineExpr first = scale(row, -1) + AffineExpr::constant(box.rank(), -1),
                       last = row + AffineExpr::constant(box.rank(), checked::sub(-1, room));
      if (!conditions_) conditions_.emplace(op_);
      if (!disjuncts) disjuncts = conditions_->disjuncts(where);
      for (const auto& conjunction : *disjuncts) {
        Space space{box, op_.constraints};
        space.constraints.insert(space.constraints.end(), conjunction.begin(), conjunction.end());
        for (const AffineExpr& outside : {first, last}) {
          Space violation = space;
          violation.constraints.push_back({outside, ir::Comparison::at_least_zero});
          if (!has_no_point(violation)) leaves(number, axis, space, outside);
        }
      }
    }
  }
  // A point together with its block number implies less than each alone.
  bool is_of_a_block(const AffineExpr& row) const {
    return std::ranges::any_of(
        op_.blockings, [&](const ir::Blocking& b) { return uses_dim(row, b.dim) && uses_dim(row, b.block_dim); });
  }
  // Refuses the read if it is out of bounds at one of the points.
  void leaves(std::uint32_t read, std::size_t axis, const Space& space, const AffineExpr& outside) {
    const bool looked_at = each_point(space.box, most_points, [&](const std::vector<std::int64_t>& point) {
      bool is = value_at(outside, point) >= 0;
      for (const ir::Constraint& c : space.constraints) is = is && holds_at(c, point);
      expect(Obligation::legal, !is, "read {} of `{}` leaves its tensor on axis {}, at {}", read, op_.name, axis,
             is ? value_at(op_.reads[read].projection.start.rows[axis], point) : 0);
    });
    expect(Obligation::legal, looked_at || !space.constraints.empty(), "read {} of `{}` leaves its tensor on axis {}",
           read, op_.name, axis);
    shown_ = shown_ && looked_at;
  }

  const ir::Operator& op_;
  std::optional<Conditions> conditions_;  // computed on first use
  bool shown_ = true;
  std::set<Visited> seen_;
  std::vector<Visited> open_;
};

}  // namespace

bool reads_are_inside(const ir::Operator& op) { return op.region() || op.transfer() || Reads(op).run(); }

}  // namespace tap::check
