#include "passes/split_reduction.h"

#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// The access one cell further out: [block, …].
Projection under_block(Projection projection, std::size_t dims, std::size_t block_dim) {
  projection.start.inputs = dims;
  projection.start.rows.insert(projection.start.rows.begin(), AffineExpr::variable(dims, block_dim));
  projection.shape.insert(projection.shape.begin(), 1);
  return projection;
}

AffineExpr over_one_more(AffineExpr e) {
  e.coefficients.push_back(0);
  return e;
}

Projection over_one_more(Projection projection) {
  ++projection.start.inputs;
  for (AffineExpr& row : projection.start.rows) row = over_one_more(row);
  return projection;
}

Operator partial_of(const Program& program, const Operator& op, std::int64_t blocks) {
  Operator partial = op;
  const Monoid& monoid = program[op.reduce()->monoid];
  const std::size_t block_dim = op.dims.size();
  partial.dims.push_back({"block", {0, blocks}, DimRole::parallel, false, 0});
  for (Constraint& c : partial.constraints) c.expr = over_one_more(c.expr);
  for (Access& read : partial.reads) read.projection = over_one_more(read.projection);
  partial.results.clear();
  for (std::size_t w = 0; w < op.writes.size(); ++w) {
    Access& write = partial.writes[w];
    TensorType type{monoid.components[w].type, op.results[write.tensor].shape};
    type.shape.insert(type.shape.begin(), blocks);
    write.projection = under_block(over_one_more(write.projection), block_dim + 1, block_dim);
    write.tensor = static_cast<std::uint32_t>(partial.results.size());
    partial.results.push_back(std::move(type));
  }
  return partial;
}

// An affine expression of the parallel dims, over the combination's dims.
AffineExpr over_combination(const Operator& op, const AffineExpr& e) {
  AffineExpr result{{}, e.offset};
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role != DimRole::reduction) result.coefficients.push_back(e.coefficients[d]);
  result.coefficients.push_back(0);
  return result;
}

bool speaks_of_reduction(const Operator& op, const Constraint& constraint) {
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction && constraint.expr.coefficients[d] != 0) return true;
  return false;
}

// Writes of the combination: as the operator's, over its own dims.
Access combined_write(const Operator& op, const Access& write, std::size_t dims,
                      const std::vector<std::uint32_t>& renumbered) {
  Access result = write;
  result.projection.start.inputs = dims;
  for (AffineExpr& row : result.projection.start.rows) row = over_combination(op, row);
  for (std::uint32_t& d : result.invariant_dims) d = renumbered[d];
  return result;
}

}  // namespace

SplitReduction split_reduction(const Program& program, const Operator& op, std::int64_t blocks) {
  TAP_CHECK(op.reduce(), "only a reduction has partials");
  SplitReduction result;
  result.partial = partial_of(program, op, blocks);
  result.block_dim = static_cast<std::uint32_t>(op.dims.size());
  Operator& combination = result.combination;
  combination.name = op.name;
  for (const IndexDim& dim : op.dims) {
    result.dim_in_combination.push_back(static_cast<std::uint32_t>(combination.dims.size()));
    if (dim.role != DimRole::reduction) combination.dims.push_back(dim);
  }
  const std::size_t block_dim = combination.dims.size();
  combination.dims.push_back({"block", {0, blocks}, DimRole::reduction, false, 0});
  for (const Constraint& c : op.constraints)
    if (!speaks_of_reduction(op, c)) combination.constraints.push_back({over_combination(op, c.expr), c.comparison});
  combination.operands = result.partial.results;
  combination.results = op.results;
  ReduceBody body{op.reduce()->monoid, {}};
  for (std::size_t w = 0; w < op.writes.size(); ++w) {
    Access write = combined_write(op, op.writes[w], block_dim + 1, result.dim_in_combination);
    Access read;
    read.tensor = static_cast<std::uint32_t>(w);
    read.projection = under_block(write.projection, block_dim + 1, block_dim);
    combination.reads.push_back(std::move(read));
    combination.writes.push_back(std::move(write));
    body.operands.push_back(combination.exprs.read(static_cast<std::uint32_t>(w), combination.operands[w].element));
  }
  combination.body = std::move(body);
  return result;
}

}  // namespace tap::passes
