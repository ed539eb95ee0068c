// Partials of an outside kernel. It is called for each block of a reduced dim, and its results are combined cell by
// cell:
//
//   y = total(x)  over i, reduce r by sum   split over r   is p = total(x) over i and block b of r,   y[i] = sum[b] p[i, b]
//
// A kernel finds the cells of its regions by their own axes, so the block number is the last axis of a partial.
#include <algorithm>

#include "ir/graph.h"
#include "passes/operator_edit.h"
#include "passes/splits/split_operator.h"

namespace tap::passes {

using namespace ir;

namespace {

// The name of the dim that alone determines the written cell of the axis; else a new name.
std::string name_of_axis(const Operator& op, std::size_t axis, const std::vector<IndexDim>& taken) {
  const Projection& at = op.writes[0].projection;
  auto is_taken = [&](const std::string& name) { return std::ranges::count(taken, name, &IndexDim::name) > 0; };
  if (auto dim = at.start.rows[axis].as_variable(); dim && at.shape[axis] == 1 && !is_taken(op.dims[*dim].name))
    return op.dims[*dim].name;
  std::string name = "i" + std::to_string(axis);
  auto of_dim = [&] { return std::ranges::count(op.dims, name, &IndexDim::name) > 0; };
  while (is_taken(name) || of_dim()) name += "_";
  return name;
}

}  // namespace

std::string why_no_partials(const Operator& kernel) {
  const std::string what = "the results of `" + kernel.kernel()->symbol + "`";
  for (std::size_t w = 0; w < kernel.writes.size(); ++w) {
    if (kernel.writes.size() != kernel.results.size() || kernel.writes[w].tensor != w)
      return what + " are not each written exactly once, in order, so its partials cannot be combined cell by cell";
    if (kernel.results[w].shape != kernel.results[0].shape)
      return what + " have different shapes, so its partials cannot be combined cell by cell";
  }
  return "";
}

SplitReduction split_kernel(const Program& program, const Operator& op, std::uint32_t dim, const Blocks& blocks) {
  SplitReduction result;
  Operator& partial = result.partial = split_dim(op, dim, blocks, false);
  const auto number = static_cast<std::uint32_t>(op.dims.size());
  for (std::size_t w = 0; w < partial.writes.size(); ++w) {
    Projection& at = partial.writes[w].projection;
    at.start.rows.push_back(AffineExpr::variable(at.start.inputs, number));
    at.shape.push_back(1);
    partial.results[w].shape.push_back(blocks.count);
    if (!partial.result_names.empty()) partial.result_names[w] += ".partial";
  }
  Operator& combination = result.combination;
  combination.name = op.name;
  combination.result_names = op.result_names;
  const Shape& shape = op.results[0].shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    combination.dims.push_back({name_of_axis(op, axis, combination.dims), {0, shape[axis]}});
  IndexDim over = partial.dims[number];
  over.role = DimRole::reduction;
  combination.dims.push_back(std::move(over));
  combination.operands = partial.results;
  combination.results = op.results;
  const Monoid& monoid = program[*monoid_of(op)];
  ReduceBody body{*monoid_of(op), {}};
  const std::size_t dims = combination.dims.size();
  for (std::uint32_t w = 0; w < op.writes.size(); ++w) {
    Access write, read;
    write.tensor = read.tensor = w;
    for (std::size_t d = 0; d < dims; ++d) {
      read.projection.start.rows.push_back(AffineExpr::variable(dims, d));
      if (d + 1 < dims) write.projection.start.rows.push_back(read.projection.start.rows.back());
    }
    read.projection.start.inputs = write.projection.start.inputs = dims;
    read.projection.shape = Shape(dims, 1);
    write.projection.shape = Shape(dims - 1, 1);
    combination.reads.push_back(std::move(read));
    combination.writes.push_back(std::move(write));
    const CellId cell = combination.exprs.read(w, combination.operands[w].element);
    body.operands.push_back(combination.exprs.cast(cell, monoid.components[w].type));
  }
  combination.body = std::move(body);
  return result;
}

}  // namespace tap::passes
