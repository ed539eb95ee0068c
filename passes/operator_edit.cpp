#include "passes/operator_edit.h"

#include <fmt/format.h>

#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

template <class Edit>
void every_row(Operator& op, Edit edit) {
  for (Constraint& c : op.constraints) edit(c.expr);
  for (auto* accesses : {&op.reads, &op.writes})
    for (Access& access : *accesses)
      for (AffineExpr& row : access.projection.start.rows) edit(row);
}

void set_inputs(Operator& op) {
  for (auto* accesses : {&op.reads, &op.writes})
    for (Access& access : *accesses) access.projection.start.inputs = op.dims.size();
}

}  // namespace

Operator copy_operator(const TensorType& type) {
  Operator op;
  op.name = "copy";
  const std::size_t rank = type.shape.size();
  for (std::size_t d = 0; d < rank; ++d) op.dims.push_back({fmt::format("i{}", d), {0, type.shape[d]}});
  Access access;
  access.projection = {AffineMap::identity(rank), Shape(rank, 1)};
  op.operands = op.results = {type};
  op.reads = op.writes = {access};
  op.body = MapBody{{op.exprs.read(0, type.element)}};
  return op;
}

void add_dim(Operator& op, IndexDim dim) {
  op.dims.push_back(std::move(dim));
  every_row(op, [](AffineExpr& e) { e.coefficients.push_back(0); });
  set_inputs(op);
}

void remove_dim(Operator& op, std::uint32_t dim) {
  every_row(op, [dim](AffineExpr& e) {
    TAP_CHECK(e.coefficients[dim] == 0, "a dim that is used is removed");
    e.coefficients.erase(e.coefficients.begin() + dim);
  });
  auto renumber = [dim](std::uint32_t& d) {
    TAP_CHECK(d != dim, "a dim that is used is removed");
    if (d > dim) --d;
  };
  for (Blocking& b : op.blockings) {
    renumber(b.dim);
    renumber(b.block_dim);
  }
  for (Access& write : op.writes) {
    std::erase(write.invariant_dims, dim);
    for (std::uint32_t& d : write.invariant_dims) renumber(d);
  }
  op.dims.erase(op.dims.begin() + dim);
  set_inputs(op);

  CellExprs before = std::move(op.exprs);
  op.exprs = {};
  auto leaf = [&](const CellNode& node) -> std::optional<CellId> {
    if (node.op != CellOp::index) return std::nullopt;
    std::uint32_t d = node.attribute;
    renumber(d);
    return op.exprs.index(d);
  };
  auto move = [&](CellId& cell) { cell = graft(before, cell, op.exprs, leaf); };
  for (Access& read : op.reads) {
    for (auto& coordinate : read.coordinates)
      if (coordinate) move(*coordinate);
    if (read.fill) move(*read.fill);
  }
  if (auto* map = std::get_if<MapBody>(&op.body)) std::for_each(map->values.begin(), map->values.end(), move);
  if (auto* reduce = std::get_if<ReduceBody>(&op.body))
    std::for_each(reduce->operands.begin(), reduce->operands.end(), move);
}

void remove_axis(Projection& projection, std::size_t axis) {
  auto at = static_cast<std::ptrdiff_t>(axis);
  projection.start.rows.erase(projection.start.rows.begin() + at);
  projection.shape.erase(projection.shape.begin() + at);
}

Projection under(Projection projection, std::uint32_t dim) {
  projection.start.rows.insert(projection.start.rows.begin(), AffineExpr::variable(projection.start.inputs, dim));
  projection.shape.insert(projection.shape.begin(), 1);
  return projection;
}

void write_under(Operator& op, const Monoid& monoid, std::uint32_t dim) {
  std::vector<TensorType> whole = std::move(op.results);
  std::vector<std::string> names = std::move(op.result_names);
  op.results.clear();
  op.result_names.clear();
  for (std::size_t w = 0; w < op.writes.size(); ++w) {
    Access& write = op.writes[w];
    TensorType type{monoid.components[w].type, whole[write.tensor].shape};
    type.shape.insert(type.shape.begin(), op.dims[dim].range.size());
    write.projection = under(std::move(write.projection), dim);
    if (!names.empty()) op.result_names.push_back(names[write.tensor] + ".partial");
    write.tensor = static_cast<std::uint32_t>(w);
    op.results.push_back(std::move(type));
  }
}

CellId graft(const CellExprs& from, CellId cell, CellExprs& to, const Leaf& leaf) {
  std::unordered_map<CellId, CellId> placed;
  for (CellId id : reachable_from(from, {cell})) {
    CellNode node = from[id];
    if (auto replaced = leaf(node)) {
      placed.emplace(id, *replaced);
      continue;
    }
    for (CellId& arg : node.args) arg = placed.at(arg);
    placed.emplace(id, to.add(std::move(node)));
  }
  return placed.at(cell);
}

}  // namespace tap::passes
