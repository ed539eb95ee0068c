#include "passes/rewrites/fold_facts.h"

#include <algorithm>

#include "ir/graph.h"
#include "passes/simplify/cell_facts.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

DimSet dims_of(const AffineExpr& e) {
  DimSet dims = 0;
  for (std::size_t d = 0; d < e.coefficients.size(); ++d)
    if (e.coefficients[d] != 0) dims |= DimSet{1} << d;
  return dims;
}

// The dims of the operator that its cell depends on.
DimSet dims_of(const Operator& op, CellId root) {
  DimSet dims = 0;
  for (CellId id : needed_cells(op, {root})) {
    const CellNode& node = op.exprs[id];
    if (node.op == CellOp::index) dims |= DimSet{1} << node.attribute;
    if (node.op != CellOp::read) continue;
    for (const AffineExpr& row : op.reads[node.attribute].projection.start.rows) dims |= dims_of(row);
  }
  return dims;
}

DimSet reduced_dims(const Operator& op) {
  DimSet dims = 0;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction) dims |= DimSet{1} << d;
  return dims;
}

bool uses_dim(const Constraint& c, DimSet dims) { return (dims_of(c.expr) & dims) != 0; }

// fold of nothing = identity, if that is obvious: each root is a reduction with that identity.
bool folds_empty_to_identity(const Program& program, const Monoid& monoid) {
  const Fold& fold = *monoid.fold;
  for (std::size_t c = 0; c < monoid.arity(); ++c) {
    const CellNode& root = fold.exprs[fold.roots[c]];
    if (root.op != CellOp::reduce) return false;
    const Monoid& by = program[MonoidId(root.attribute)];
    if (!(by.exprs[by.identity[0]].value == monoid.exprs[monoid.identity[c]].value)) return false;
  }
  return true;
}

// The cases that the law does not cover, or that the index space cannot express.
std::string why_not_by_space(const Program& program, const Operator& op) {
  const DimSet reduced = reduced_dims(op);
  DimSet known = reduced;
  for (CellId operand : op.reduce()->operands) known |= dims_of(op, operand);
  for (const IndexDim& dim : op.dims) {
    if (dim.role == DimRole::counter) return "it uses the counter of an iterate";
    if (dim.range.lo != 0) return "one of its dims does not start at 0";
    if (dim.range.empty()) return "it reduces no dim";
  }
  for (const Constraint& c : op.constraints) {
    if (!uses_dim(c, reduced)) return "it writes only under a condition";
    if (dims_of(c.expr) & ~known) return "it is a scan, and its fold would take more operations";
  }
  if (!op.constraints.empty() && !folds_empty_to_identity(program, program[op.reduce()->monoid]))
    return "a reduction in it may be empty, and the fold of no points is not known to be the identity";
  return "";
}

class FactFinder {
 public:
  FactFinder(const Program& program, const Operator& op, const FoldedSpace& space)
      : fold_(*program[op.reduce()->monoid].fold), reduced_(reduced_dims(op)) {
    for (CellId operand : op.reduce()->operands) {
      DimSet dims = dims_of(op, operand);
      if (has(dims, space.dim) && space.count > 1) dims |= DimSet{1} << space.block;
      operands_.push_back(dims);
    }
    for (const Constraint& c : space.constraints) constrained_ |= dims_of(c.expr) & ~reduced_;
  }

  FoldFacts run() {
    facts_.becomes_operation.assign(fold_.exprs.size(), false);
    for (std::size_t k = 0; k < fold_.exprs.size(); ++k) {
      const CellNode& node = fold_.exprs[CellId(k)];
      DimSet dims = node.op == CellOp::argument ? operands_[node.attribute] : 0;
      for (CellId arg : node.args) dims |= facts_.indexed[arg.index()];
      if (node.op == CellOp::reduce) dims = (dims & ~reduced_) | constrained_;
      facts_.indexed.push_back(dims);
      facts_.dims.push_back(dims & ~reduced_);
    }
    for (CellId id : reachable_from(fold_.exprs, fold_.roots)) {
      const CellNode& node = fold_.exprs[id];
      if (node.op != CellOp::reduce) continue;
      facts_.becomes_operation[id.index()] = true;
      mark_operations(node.args[0], facts_.dims[id.index()]);
    }
    for (CellId root : fold_.roots) facts_.becomes_operation[root.index()] = true;
    return std::move(facts_);
  }

 private:
  // Marks cells with fewer dims than the cells around them: they are computed once and shared.
  void mark_operations(CellId id, DimSet around) {
    const CellNode& node = fold_.exprs[id];
    if (node.args.empty() || node.op == CellOp::reduce) return;
    const bool fewer = facts_.dims[id.index()] != around && (facts_.dims[id.index()] & ~around) == 0;
    if (fewer && (facts_.indexed[id.index()] & reduced_) != 0) {
      facts_.becomes_operation[id.index()] = facts_.contracts = true;
      return;
    }
    for (CellId arg : node.args) mark_operations(arg, around);
  }

  const Fold& fold_;
  DimSet reduced_, constrained_ = 0;
  std::vector<DimSet> operands_;
  FoldFacts facts_;
};

}  // namespace

AffineExpr FoldedSpace::placed(const AffineExpr& e) const {
  AffineExpr result = AffineExpr::constant(dims.size(), e.offset);
  std::copy(e.coefficients.begin(), e.coefficients.end(), result.coefficients.begin());
  if (count > 1) result.coefficients[block] = checked::mul(e.coefficients[dim], size);
  return result;
}

FoldedSpace folded_space(const Operator& op, std::uint32_t dim, std::int64_t size) {
  FoldedSpace space{dim, size, (op.dims[dim].range.hi + size - 1) / size, op.dims, {}, 0};
  space.dims[dim].range.hi = size;
  space.block = static_cast<std::uint32_t>(op.dims.size());
  space.dims.push_back({op.dims[dim].name + "_block", {0, space.count}});
  for (const Constraint& c : op.constraints) space.constraints.push_back({space.placed(c.expr), c.comparison});
  const std::int64_t last = op.dims[dim].range.hi - 1;
  if (space.count * size > last + 1) {
    AffineExpr position = space.placed(AffineExpr::variable(op.dims.size(), dim));
    space.constraints.push_back({AffineExpr::constant(space.dims.size(), last) - position, Comparison::at_least_zero});
  }
  return space;
}

FoldFacts fold_facts(const Program& program, const Operator& op, const FoldedSpace& space) {
  return FactFinder(program, op, space).run();
}

// The outermost, so that blocks are combined in order.
std::uint32_t dim_to_fold(const Operator& op) {
  std::uint32_t d = 0;
  while (op.dims[d].role != DimRole::reduction) ++d;
  return d;
}

std::string why_not_folded(const Program& program, const Operator& op, bool strict_fp) {
  const Monoid& monoid = program[op.reduce()->monoid];
  for (Law law : {monoid.laws.associative, monoid.laws.identity, monoid.laws.fold})
    if (law != Law::proved && law != Law::assumed) return "its laws are not proved";
  for (const MonoidComponent& c : monoid.components) {
    if (strict_fp && is_float(c.type)) return "--strict-fp keeps the written order of float operations";
    if (c.type == ElementType::f16 || c.type == ElementType::bf16)
      return "its intermediate results would be rounded to " + std::string(name_of(c.type));
  }
  if (!op.blockings.empty()) return "it is already split";
  if (op.dims.size() > 62 || reduced_dims(op) == 0) return "it has more than 62 dims, or no reduction dim";
  if (may_fail(op, op.reduce()->operands)) return "its term can fail and would be evaluated at more points";
  return why_not_by_space(program, op);
}

}  // namespace tap::passes
