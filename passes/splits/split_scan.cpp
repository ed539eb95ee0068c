#include "passes/splits/split_scan.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/interpret/linear_reductions.h"
#include "passes/operator_edit.h"
#include "passes/splits/split_operator.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

class ScanSplitter {
 public:
  ScanSplitter(const Program& program, const Operator& op, std::uint32_t along, const Blocks& blocks)
      : op_(op), monoid_(program[op.reduce()->monoid]), along_(along), blocks_(blocks) {}

  std::optional<SplitScan> run() {
    auto scan = find_scan(op_);
    if (!scan || scan->along != along_) return std::nullopt;
    reduced_ = scan->reduced;
    forward_ = scan->at_the_right;
    if (!find_tie() || !every_write_runs_along() || is_split(along_) || is_split(reduced_)) return std::nullopt;
    SplitScan result;
    result.local = local_scans(result.local_block);
    result.totals = totals(result.totals_block);
    result.carry = carry(result.totals);
    result.combined = combined(result);
    return result;
  }

 private:
  // The one constraint of both dims: k <= i + shift, or k >= i + shift.
  bool find_tie() {
    for (const Constraint& c : op_.constraints) {
      std::int64_t a = c.expr.coefficients[along_], b = c.expr.coefficients[reduced_];
      if (b == 0) continue;
      bool one_by_one = c.comparison == Comparison::at_least_zero && a == (forward_ ? 1 : -1) && b == -a;
      for (std::size_t d = 0; d < op_.dims.size(); ++d)
        one_by_one &= d == along_ || d == reduced_ || c.expr.coefficients[d] == 0;
      if (!one_by_one) return false;
      shift_ = forward_ ? c.expr.offset : -c.expr.offset;
    }
    return true;
  }

  bool is_split(std::uint32_t dim) const {
    return std::any_of(op_.blockings.begin(), op_.blockings.end(), [dim](const Blocking& b) { return b.dim == dim; });
  }

  std::optional<std::size_t> axis_along(const Access& write) const {
    std::optional<std::size_t> found;
    for (std::size_t axis = 0; axis < write.projection.rank(); ++axis) {
      const AffineExpr& row = write.projection.start.rows[axis];
      if (row.coefficients[along_] == 0) continue;
      if (found || row.as_variable() != along_) return std::nullopt;
      found = axis;
    }
    return found;
  }
  bool every_write_runs_along() const {
    return std::all_of(op_.writes.begin(), op_.writes.end(),
                       [&](const Access& w) { return axis_along(w).has_value(); });
  }

  // Block r of the reduced dim has the points that cells of block r of the running dim use and earlier cells do not.
  // The first and the last block also take points that no cell distinguishes.
  Blocks reduced_blocks() const {
    Range along = op_.dims[along_].range, reduced = op_.dims[reduced_].range;
    if (shift_ == 0 && along == reduced) return blocks_;
    auto inside = [&](std::int64_t at) { return std::clamp(at, reduced.lo, std::max(reduced.lo, reduced.hi)); };
    Blocks result{blocks_.count, {reduced.lo}};
    for (std::int64_t r = 1; r < blocks_.count; ++r) {
      std::int64_t edge = checked::add(blocks_.block(along, r).lo, shift_);
      result.boundaries.push_back(std::max(result.boundaries.back(), inside(edge)));
    }
    result.boundaries.push_back(std::max(reduced.lo, reduced.hi));
    return result;
  }

  void set_component_types(Operator& op) const {
    op.results.clear();
    for (std::size_t w = 0; w < op.writes.size(); ++w) {
      op.results.push_back({monoid_.components[w].type, op_.results[op_.writes[w].tensor].shape});
      op.writes[w].tensor = static_cast<std::uint32_t>(w);
    }
    op.result_names.clear();
  }

  Operator local_scans(std::uint32_t& block) const {
    Operator local = split_dim(op_, along_, blocks_, false);
    block = static_cast<std::uint32_t>(op_.dims.size());
    local.blockings.push_back({reduced_, block, reduced_blocks()});
    set_component_types(local);
    return local;
  }

  Operator totals(std::uint32_t& block) const {
    Operator total = op_;
    std::erase_if(total.constraints, [&](const Constraint& c) { return c.expr.coefficients[along_] != 0; });
    set_component_types(total);
    for (std::size_t w = 0; w < total.writes.size(); ++w) {
      std::size_t axis = *axis_along(op_.writes[w]);
      remove_axis(total.writes[w].projection, axis);
      total.results[w].shape.erase(total.results[w].shape.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    remove_dim(total, along_);
    std::uint32_t reduced = reduced_ - (along_ < reduced_ ? 1 : 0);
    Operator blocked = split_dim(total, reduced, reduced_blocks(), false);
    block = static_cast<std::uint32_t>(blocked.dims.size() - 1);
    write_under(blocked, monoid_, block);
    return blocked;
  }

  // c[r] = sum[q < r] t[q], or of the later blocks if the scan runs backwards
  Operator carry(const Operator& totals) const {
    Operator op;
    op.name = op_.name;
    std::vector<std::uint32_t> dims;  // of the totals' parallel dims
    for (std::size_t d = 0; d + 1 < totals.dims.size(); ++d) {
      dims.push_back(static_cast<std::uint32_t>(op.dims.size()));
      if (totals.dims[d].role != DimRole::reduction) op.dims.push_back(totals.dims[d]);
    }
    auto r = static_cast<std::uint32_t>(op.dims.size());
    op.dims.push_back({totals.dims.back().name, {0, blocks_.count}});
    op.dims.push_back({totals.dims.back().name + "_before", {0, blocks_.count}, DimRole::reduction});
    const std::size_t n = op.dims.size();
    AffineExpr distance = AffineExpr::variable(n, r) - AffineExpr::variable(n, r + 1);
    if (!forward_) distance = scale(distance, -1);
    distance.offset = -1;
    op.constraints = {{distance}};
    for (const Constraint& c : totals.constraints)
      if (std::none_of(totals.dims.begin(), totals.dims.end(), [&](const IndexDim& d) {
            return d.role == DimRole::reduction &&
                   c.expr.coefficients[static_cast<std::size_t>(&d - &totals.dims[0])] != 0;
          }))
        op.constraints.push_back({moved(c.expr, totals, dims, n), c.comparison});
    for (const Blocking& b : totals.blockings)
      if (totals.dims[b.dim].role != DimRole::reduction)
        op.blockings.push_back({dims[b.dim], dims[b.block_dim], b.blocks});
    op.operands = op.results = totals.results;
    ReduceBody body{op_.reduce()->monoid, {}};
    for (std::size_t w = 0; w < totals.writes.size(); ++w) {
      Access write{static_cast<std::uint32_t>(w), totals.writes[w].projection, {}, {}, {}};
      write.projection.start.inputs = n;
      for (std::size_t axis = 1; axis < write.projection.rank(); ++axis)
        write.projection.start.rows[axis] = moved(write.projection.start.rows[axis], totals, dims, n);
      Access read = write;
      write.projection.start.rows[0] = AffineExpr::variable(n, r);
      read.projection.start.rows[0] = AffineExpr::variable(n, r + 1);
      for (std::uint32_t d : totals.writes[w].invariant_dims) write.invariant_dims.push_back(dims[d]);
      op.reads.push_back(std::move(read));
      op.writes.push_back(std::move(write));
      body.operands.push_back(op.exprs.read(static_cast<std::uint32_t>(w), op.operands[w].element));
    }
    op.body = std::move(body);
    return op;
  }

  // An expression of the totals' parallel dims over other dims.
  static AffineExpr moved(const AffineExpr& e, const Operator& totals, const std::vector<std::uint32_t>& dims,
                          std::size_t n) {
    AffineExpr result = AffineExpr::constant(n, e.offset);
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (totals.dims[d].role != DimRole::reduction) result.coefficients[dims[d]] = e.coefficients[d];
    return result;
  }

  // y[i] = combine(c[r], l[i])
  Operator combined(SplitScan& parts) const {
    const Operator& local = parts.local;
    Operator op = local;
    op.name = op_.name;
    op.results = op_.results;
    op.result_names = op_.result_names;
    op.constraints.clear();
    for (const Constraint& c : local.constraints)
      if (c.expr.coefficients[reduced_] == 0) op.constraints.push_back(c);
    std::erase_if(op.blockings, [&](const Blocking& b) { return b.dim == reduced_; });
    op.exprs = {};
    op.reads.clear();
    op.operands.clear();
    const std::size_t arity = op.writes.size();
    for (std::size_t w = 0; w < arity; ++w) {
      op.operands.push_back(parts.carry.results[w]);
      Projection before = local.writes[w].projection;
      remove_axis(before, *axis_along(op_.writes[w]));
      op.reads.push_back({static_cast<std::uint32_t>(w), under(std::move(before), parts.local_block)});
    }
    for (std::size_t w = 0; w < arity; ++w) {
      op.operands.push_back(local.results[w]);
      op.reads.push_back({static_cast<std::uint32_t>(arity + w), local.writes[w].projection});
      op.writes[w].tensor = op_.writes[w].tensor;
    }
    std::vector<CellId> arguments;
    for (bool earlier : {true, false})
      for (std::size_t w = 0; w < arity; ++w)
        arguments.push_back(op.exprs.read(static_cast<std::uint32_t>(w + (earlier == forward_ ? 0 : arity)),
                                          monoid_.components[w].type));
    MapBody body;
    for (CellId root : monoid_.combine)
      body.values.push_back(graft(monoid_.exprs, root, op.exprs, [&](const CellNode& node) {
        return node.op == CellOp::argument ? std::optional(arguments[node.attribute]) : std::nullopt;
      }));
    op.body = std::move(body);
    remove_dim(op, reduced_);
    parts.combined_block = parts.local_block - (reduced_ < parts.local_block ? 1 : 0);
    return op;
  }

  const Operator& op_;
  const Monoid& monoid_;
  std::uint32_t along_, reduced_ = 0;
  Blocks blocks_;
  bool forward_ = true;
  std::int64_t shift_ = 0;
};

}  // namespace

std::optional<SplitScan> split_scan(const Program& program, const Operator& op, std::uint32_t dim,
                                    const Blocks& blocks) {
  return op.reduce() ? ScanSplitter(program, op, dim, blocks).run() : std::nullopt;
}

}  // namespace tap::passes
