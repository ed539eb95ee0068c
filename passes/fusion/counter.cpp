#include "passes/fusion/counter.h"

#include <algorithm>

#include "ir/graph.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

// Replaces one dim of an operator, a counter.
class DimReplacement {
 public:
  DimReplacement(const Operator& op, std::uint32_t dim, const CounterValue& value)
      : from_(op), to_(op), dim_(dim), value_(value) {}

  Operator run() {
    cells();
    for (Constraint& c : to_.constraints) affine(c.expr);
    for (auto* accesses : {&to_.reads, &to_.writes})
      for (Access& a : *accesses) access(a);
    if (auto* map = std::get_if<MapBody>(&to_.body)) cell_list(map->values);
    if (auto* reduce = std::get_if<ReduceBody>(&to_.body)) cell_list(reduce->operands);
    if (value_.trips) {
      to_.dims[dim_].range = *value_.trips;
      return std::move(to_);
    }
    to_.dims.erase(to_.dims.begin() + dim_);
    for (Blocking& b : to_.blockings) {
      b.dim = renumbered(b.dim);
      b.block_dim = renumbered(b.block_dim);
    }
    return std::move(to_);
  }

 private:
  std::uint32_t renumbered(std::uint32_t dim) const { return !value_.trips && dim > dim_ ? dim - 1 : dim; }

  void affine(AffineExpr& e) const {
    std::int64_t c = e.coefficients[dim_];
    e.offset = checked::add(e.offset, checked::mul(c, value_.offset));
    if (value_.trips) e.coefficients[dim_] = checked::mul(c, value_.factor);
    else e.coefficients.erase(e.coefficients.begin() + dim_);
  }

  void access(Access& a) const {
    for (AffineExpr& row : a.projection.start.rows) affine(row);
    if (!value_.trips) --a.projection.start.inputs;
    for (auto& c : a.coordinates)
      if (c) c = cells_[c->index()];
    if (a.fill) a.fill = cells_[a.fill->index()];
    for (std::uint32_t& d : a.invariant_dims) d = renumbered(d);
  }

  void cell_list(std::vector<CellId>& list) const {
    for (CellId& c : list) c = cells_[c.index()];
  }

  void cells() {
    CellExprs exprs;
    for (std::size_t k = 0; k < from_.exprs.size(); ++k) {
      CellNode node = from_.exprs[CellId(k)];
      for (CellId& arg : node.args) arg = cells_[arg.index()];
      if (node.op == CellOp::index && node.attribute == dim_) {
        cells_.push_back(counter(exprs));
        continue;
      }
      if (node.op == CellOp::index) node.attribute = renumbered(node.attribute);
      cells_.push_back(exprs.add(std::move(node)));
    }
    to_.exprs = std::move(exprs);
  }

  CellId counter(CellExprs& exprs) const {
    auto number = [&](std::int64_t n) { return exprs.constant(Scalar::integer(ElementType::i64, n)); };
    if (!value_.trips) return number(value_.offset);
    CellId cell = exprs.index(dim_);
    if (value_.factor != 1) cell = exprs.apply(CellOp::mul, ElementType::i64, {number(value_.factor), cell});
    if (value_.offset != 0) cell = exprs.apply(CellOp::add, ElementType::i64, {cell, number(value_.offset)});
    return cell;
  }

  const Operator& from_;
  Operator to_;
  std::uint32_t dim_;
  const CounterValue& value_;
  std::vector<CellId> cells_;  // by old cell
};

std::optional<std::uint32_t> counter_of(const Operator& op, std::uint32_t level) {
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::counter && op.dims[d].level == level) return d;
  return std::nullopt;
}

// Removes the anchors of a dim that is removed.
void drop_dim(std::vector<GroupAnchor>& anchors, std::uint32_t dim) {
  anchors.erase(std::remove_if(anchors.begin(), anchors.end(), [&](const GroupAnchor& a) { return a.dim == dim; }),
                anchors.end());
  for (GroupAnchor& a : anchors) a.dim -= a.dim > dim;
}

}  // namespace

bool CounterReplacement::replace(Operation& operation, std::uint32_t level) {
  Operator op = program_[operation.op];
  bool changed = op.region() && replace_region(op, level);
  if (auto dim = counter_of(op, level)) {
    if (!value_.trips) {
      if (auto* region = std::get_if<RegionBody>(&op.body)) drop_dim(region->anchors, *dim);
      if (operation.names) operation.names->dims.erase(operation.names->dims.begin() + *dim);
    }
    op = DimReplacement(op, *dim, value_).run();
    changed = true;
  }
  for (IndexDim& dim : op.dims) {
    if (value_.trips || dim.role != DimRole::counter || dim.level < level) continue;
    --dim.level;  // the enclosing iterate is removed
    changed = true;
  }
  if (!changed) return false;
  program_.operators.push_back(std::move(op));
  operation.op = OperatorId(program_.operators.size() - 1);
  return true;
}

bool CounterReplacement::replace_region(Operator& op, std::uint32_t level) {
  auto& region = std::get<RegionBody>(op.body);
  const Graph before = program_[region.graph];
  std::uint32_t inner = level + (region.kind == RegionKind::iterate);
  bool changed = false;
  if (auto graph = replace(region.graph, inner)) {
    region.graph = *graph;
    changed = true;
  }
  for (Alternative& a : region.alternatives)
    if (auto graph = replace(a.graph, inner)) {
      a.graph = *graph;
      changed = true;
    }
  if (value_.trips) return changed;
  for (GroupAnchor& a : region.anchors)
    if (auto removed = counter_of(program_[before.operations[a.operation].op], inner))
      a.inner_dim -= a.inner_dim > *removed;
  return changed;
}

std::optional<GraphId> CounterReplacement::replace(GraphId id, std::uint32_t level) {
  Graph graph = program_[id];
  bool changed = false;
  for (Operation& operation : graph.operations) changed |= replace(operation, level);
  if (!changed) return std::nullopt;
  program_.graphs.push_back(std::move(graph));
  return GraphId(program_.graphs.size() - 1);
}

}  // namespace tap::passes
