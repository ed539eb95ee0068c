#include "compiler/driver/work.h"

#include "ir/graph.h"
#include "ir/graphs/needed_cells.h"
#include "ir/interpret/linear_reductions.h"
#include "ir/tensor_bytes.h"

namespace tap::driver {
namespace {

using namespace ir;

bool counts(const CellExprs& exprs, CellId cell) {
  CellKind kind = info(exprs[cell].op).kind;
  return kind == CellKind::arithmetic || kind == CellKind::function;
}

// The dims that add no work: blocks divide the points among them, a cell of a scan continues its predecessor's combination, and a
// term of a scatter is added to one cell.
std::vector<bool> free_dims(const Program& program, const Operator& op) {
  std::vector<bool> is_free(op.dims.size());
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    is_free[d] = op.dims[d].role == DimRole::counter || is_block_dim(op, d);
  if (!op.reduce()) return is_free;
  for (const Scan& scan : scans_of(op)) is_free[scan.along] = true;
  if (const auto scatter = find_scatter(op, program[op.reduce()->monoid]))
    for (const Scatter::Target& target : scatter->targets) is_free[target.dim] = true;
  return is_free;
}

double points_of(const Program& program, const Operator& op) {
  const std::vector<bool> is_free = free_dims(program, op);
  double points = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (!is_free[d]) points *= static_cast<double>(op.dims[d].range.size());
  return points;
}

// Each point of a reduction computes its operands and combines them with the accumulator.
double per_point(const Program& program, const Operator& op) {
  if (op.kernel()) return static_cast<double>(op.kernel()->flops.value_or(0));
  const std::vector<CellId>& roots = op.map() ? op.map()->values : op.reduce()->operands;
  double count = 0;
  for (CellId cell : needed_cells(op, roots)) count += counts(op.exprs, cell);
  if (!op.reduce()) return count;
  const Monoid& monoid = program[op.reduce()->monoid];
  for (std::size_t cell = 0; cell < monoid.exprs.size(); ++cell) count += counts(monoid.exprs, CellId{cell});
  return count;
}

double flops_of(const Program& program, GraphId graph) {
  double flops = 0;
  for (const Operation& operation : program[graph].operations) {
    const Operator& op = program[operation.op];
    if (const RegionBody* region = op.region()) {
      double times = region->kind == RegionKind::iterate ? static_cast<double>(region->trips.size()) : 1;
      flops += times * flops_of(program, region->graph);
    } else if (!op.transfer()) {
      flops += points_of(program, op) * per_point(program, op);
    }
  }
  return flops;
}

}  // namespace

double bytes_of(const TensorType& type) { return total_bytes(type); }

ProgramWork work_of(const Program& program) {
  const Graph& main = program[program.main];
  ProgramWork work{flops_of(program, program.main), 0};
  for (ValueId input : main.inputs) work.bytes += bytes_of(main[input].type);
  for (ValueId output : main.outputs) work.bytes += bytes_of(main[output].type);
  return work;
}

}  // namespace tap::driver
