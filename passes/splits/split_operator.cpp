#include "passes/splits/split_operator.h"

#include <algorithm>

#include "ir/graph.h"
#include "passes/operator_edit.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// k_block, or a similar unused name.
std::string block_dim_name(const Operator& op, std::uint32_t dim) {
  std::string base = op.dims[dim].name + "_block", name = base;
  auto taken = [&] { return std::any_of(op.dims.begin(), op.dims.end(), [&](auto& d) { return d.name == name; }); };
  for (int n = 2; taken(); ++n) name = base + std::to_string(n);
  return name;
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

// Writes of the combination: the operator's, over the combination's dims.
Access combined_write(const Operator& op, const Access& write, std::size_t dims,
                      const std::vector<std::uint32_t>& renumbered) {
  Access result = write;
  result.projection.start.inputs = dims;
  for (AffineExpr& row : result.projection.start.rows) row = over_combination(op, row);
  for (std::uint32_t& d : result.invariant_dims) d = renumbered[d];
  return result;
}

}  // namespace

const MonoidId* monoid_of(const Operator& op) {
  if (const KernelBody* kernel = op.kernel()) return kernel->reduced_by ? &*kernel->reduced_by : nullptr;
  return op.reduce() ? &op.reduce()->monoid : nullptr;
}

bool is_inside_of_a_group(const Program& program, GraphId graph) {
  return std::any_of(program.operators.begin(), program.operators.end(), [graph](const Operator& op) {
    return op.region() && op.region()->kind == RegionKind::group && op.region()->graph == graph;
  });
}

std::string why_not_split(const Program& program, const Operator& op, std::uint32_t dim, bool streamed) {
  const IndexDim& d = op.dims[dim];
  if (d.keep) return "`" + d.name + "` must stay whole";
  if (d.role == DimRole::counter) return "`" + d.name + "` is the counter of an iterate, whose trips run in sequence";
  if (streamed && d.role != DimRole::reduction) return "";
  if (d.role == DimRole::parallel || streamed) return "";
  // Otherwise the cells of an inner block would be in several places: one in each block of the stream.
  for (const Blocking& b : op.blockings)
    if (b.dim == dim && op.dims[b.block_dim].role == DimRole::reduction)
      return "it is already streamed; split it into partials first";
  const MonoidId* by = monoid_of(op);
  if (!by) return "the reduction over `" + d.name + "` has no monoid that combines partials";
  if (op.kernel())
    if (std::string why = why_no_partials(op); !why.empty()) return why;
  const Monoid& monoid = program[*by];
  if (monoid.laws.associative == Law::broken) return "the monoid is not associative";
  for (std::uint32_t outer = 0; outer < op.dims.size(); ++outer) {
    if (op.dims[outer].role != DimRole::reduction || outer == dim) continue;
    // Streamed blocks come before the blockings of the dim that they split, and before no others.
    bool streams = std::any_of(op.blockings.begin(), op.blockings.end(),
                               [&](const Blocking& b) { return b.dim == dim && b.block_dim == outer; });
    if (is_block_dim(op, outer) ? !streams : outer > dim) continue;
    if (monoid.laws.commutative == Law::proved || monoid.laws.commutative == Law::assumed) continue;
    return "splitting `" + d.name + "` would change the order of the reduction over `" + op.dims[outer].name +
           "`, an outer dim, and `" + monoid.name + "` is not commutative";
  }
  return "";
}

Operator split_dim(const Operator& op, std::uint32_t dim, const Blocks& blocks, bool streamed) {
  Operator result = op;
  auto block_dim = static_cast<std::uint32_t>(op.dims.size());
  add_dim(result, {block_dim_name(op, dim), {0, blocks.count}, streamed ? DimRole::reduction : DimRole::parallel});
  result.blockings.push_back({dim, block_dim, blocks});
  return result;
}

SplitReduction split_reduction(const Program& program, const Operator& op, std::uint32_t dim, const Blocks& blocks) {
  if (op.kernel()) return split_kernel(program, op, dim, blocks);
  TAP_CHECK(op.reduce(), "only a reduction has partials");
  SplitReduction result;
  result.partial = split_dim(op, dim, blocks, false);
  const auto number = static_cast<std::uint32_t>(op.dims.size());
  const IndexDim number_dim = result.partial.dims[number];
  write_under(result.partial, program[op.reduce()->monoid], number);

  Operator& combination = result.combination;
  combination.name = op.name;
  combination.result_names = op.result_names;
  for (const IndexDim& d : op.dims) {
    result.dim_in_combination.push_back(static_cast<std::uint32_t>(combination.dims.size()));
    if (d.role != DimRole::reduction) combination.dims.push_back(d);
  }
  const std::size_t block_dim = combination.dims.size();
  combination.dims.push_back({number_dim.name, number_dim.range, DimRole::reduction});
  for (const Constraint& c : op.constraints)
    if (!speaks_of_reduction(op, c)) combination.constraints.push_back({over_combination(op, c.expr), c.comparison});
  for (const Blocking& b : op.blockings)
    if (op.dims[b.dim].role != DimRole::reduction)
      combination.blockings.push_back(
          {result.dim_in_combination[b.dim], result.dim_in_combination[b.block_dim], b.blocks});
  combination.operands = result.partial.results;
  combination.results = op.results;
  ReduceBody body{op.reduce()->monoid, {}};
  for (std::size_t w = 0; w < op.writes.size(); ++w) {
    Access write = combined_write(op, op.writes[w], block_dim + 1, result.dim_in_combination);
    Access read;
    read.tensor = static_cast<std::uint32_t>(w);
    read.projection = under(write.projection, static_cast<std::uint32_t>(block_dim));
    combination.reads.push_back(std::move(read));
    combination.writes.push_back(std::move(write));
    body.operands.push_back(combination.exprs.read(static_cast<std::uint32_t>(w), combination.operands[w].element));
  }
  combination.body = std::move(body);
  return result;
}

}  // namespace tap::passes
