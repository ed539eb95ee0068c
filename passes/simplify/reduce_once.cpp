#include "passes/simplify/reduce_once.h"

#include <algorithm>
#include <unordered_map>

#include "ir/graph.h"

namespace tap::passes {

using namespace ir;

namespace {

// Copies an operator without its reduced dims; each is fixed at its first value.
class Copier {
 public:
  Copier(const Program& program, const Operator& from) : program_(program), from_(from) {
    for (const IndexDim& dim : from.dims) {
      new_dim_.push_back(to_.dims.size());
      if (dim.role != DimRole::reduction) to_.dims.push_back(dim);
    }
    to_.name = from.name;
    to_.results = from.results;
    to_.result_names = from.result_names;
    for (const Access& write : from.writes) {
      Access& copied = to_.writes.emplace_back(write);
      renumber(copied.projection);
      for (std::uint32_t& d : copied.invariant_dims) d = static_cast<std::uint32_t>(new_dim_[d]);
    }
  }

  // combine(identity, x) → of a reduction of x over one point
  Operator of_one_point() {
    for (const Constraint& c : from_.constraints) to_.constraints.push_back({placed(c.expr), c.comparison});
    to_.operands = from_.operands;
    to_.operand_names = from_.operand_names;
    for (const Access& read : from_.reads) renumber(to_.reads.emplace_back(read).projection);
    std::vector<CellId> operands;
    for (CellId operand : from_.reduce()->operands) operands.push_back(copy(operand));
    for (Access& read : to_.reads) {
      for (auto& coordinate : read.coordinates)
        if (coordinate) coordinate = copy(*coordinate);
      if (read.fill) read.fill = copy(*read.fill);
    }
    combine(operands);
    return std::move(to_);
  }

  // identity → for an empty reduction. Constraints on the reduction do not restrict the cells.
  Operator of_empty() {
    for (const Constraint& c : from_.constraints)
      if (!mentions_reduction(c)) to_.constraints.push_back({placed(c.expr), c.comparison});
    const Monoid& monoid = program_[from_.reduce()->monoid];
    MapBody body;
    for (CellId identity : monoid.identity) body.values.push_back(to_.exprs.constant(monoid.exprs[identity].value));
    to_.body = std::move(body);
    return std::move(to_);
  }

  bool mentions_reduction(const Constraint& c) const {
    for (std::size_t d = 0; d < from_.dims.size(); ++d)
      if (from_.dims[d].role == DimRole::reduction && c.expr.coefficients[d] != 0) return true;
    return false;
  }

 private:
  AffineExpr placed(const AffineExpr& e) const {
    AffineExpr made = AffineExpr::constant(to_.dims.size(), e.offset);
    for (std::size_t d = 0; d < from_.dims.size(); ++d) {
      if (from_.dims[d].role != DimRole::reduction) made.coefficients[new_dim_[d]] = e.coefficients[d];
      else
        made = made +
               AffineExpr::constant(to_.dims.size(),
                                    scale(AffineExpr::constant(0, from_.dims[d].range.lo), e.coefficients[d]).offset);
    }
    return made;
  }
  void renumber(Projection& projection) const {
    projection.start.inputs = to_.dims.size();
    for (AffineExpr& row : projection.start.rows) row = placed(row);
  }

  CellId copy(CellId cell) {
    if (auto at = done_.find(cell); at != done_.end()) return at->second;
    CellNode node = from_.exprs[cell];
    CellId made;
    if (node.op == CellOp::index && from_.dims[node.attribute].role == DimRole::reduction) {
      made = to_.exprs.constant(Scalar::integer(ElementType::i64, from_.dims[node.attribute].range.lo));
    } else {
      if (node.op == CellOp::index) node.attribute = static_cast<std::uint32_t>(new_dim_[node.attribute]);
      for (CellId& arg : node.args) arg = copy(arg);
      made = to_.exprs.add(std::move(node));
    }
    done_.emplace(cell, made);
    return made;
  }

  void combine(const std::vector<CellId>& operands) {
    const Monoid& monoid = program_[from_.reduce()->monoid];
    std::unordered_map<CellId, CellId> made;
    for (CellId id : reachable_from(monoid.exprs, monoid.combine)) {
      CellNode node = monoid.exprs[id];
      if (node.op == CellOp::argument) {
        std::size_t k = node.attribute;
        made.emplace(id, k < monoid.arity() ? to_.exprs.constant(monoid.exprs[monoid.identity[k]].value)
                                            : operands[k - monoid.arity()]);
        continue;
      }
      for (CellId& arg : node.args) arg = made.at(arg);
      made.emplace(id, to_.exprs.add(std::move(node)));
    }
    MapBody body;
    for (CellId root : monoid.combine) body.values.push_back(made.at(root));
    to_.body = std::move(body);
  }

  const Program& program_;
  const Operator& from_;
  Operator to_;
  std::vector<std::size_t> new_dim_;  // by dim
  std::unordered_map<CellId, CellId> done_;
};

}  // namespace

std::optional<Operator> reduced_once(const Program& program, const Operator& op) {
  if (!op.reduce() || !op.blockings.empty()) return std::nullopt;
  Copier copier(program, op);
  bool empty = false, one = true;
  for (const IndexDim& dim : op.dims) {
    if (dim.role != DimRole::reduction) continue;
    empty |= dim.range.empty();
    one &= dim.range.size() == 1;
  }
  if (empty) return copier.of_empty();
  auto mentions = [&](const Constraint& c) { return copier.mentions_reduction(c); };
  if (!one || std::any_of(op.constraints.begin(), op.constraints.end(), mentions)) return std::nullopt;
  return copier.of_one_point();
}

}  // namespace tap::passes
