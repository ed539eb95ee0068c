// Lanes along a reduction read vectors of consecutive points. An operand whose cells are not contiguous there, or whose rows do not
// begin at whole cache lines, is copied first, if many points of other dims read the copy (uses_of_lane_copy in packable.h).
//
//   y[i, j] = sum[k] a[i, k] * b[k, j]     lanes along k; b: f32[512, 3]
//
//     p[j, k] = b[k, j]                    once
//     for i, for j                         acc += a[i, k] * p[j, k]
#include "backend/lower/lowering.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

// Declares the copy and redirects the cells' reads to it.
std::vector<Statement> Lowering::lane_copy(std::uint32_t read, const RegisterTile& tile, const Extents& extents) {
  const Access& access = op_.reads[read];
  Pack pack;
  pack.read = read;
  TensorArgument memory;
  memory.name = "p" + std::to_string(kernel_.tensors.size());
  memory.type.element = op_.operands[access.tensor].element;
  memory.local.emplace();
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (d != tile.dim && uses(access, d)) dims.push_back(d);
  dims.push_back(tile.dim);
  std::vector<For> loops;
  const std::vector<bool> alone(op_.dims.size(), false);
  for (std::size_t d : dims) {
    std::int64_t extent = extents.most(op_, d);
    if (d == tile.dim) extent = (extent + tile.lanes - 1) / tile.lanes * tile.lanes;  // rows begin at whole lines
    memory.type.shape.push_back(extent);
    memory.local->extents.push_back(extent);
    memory.local->origin.push_back(number(0));
    pack.at.push_back(plus(variable(frame_.at[d]), variable(frame_.lo[d]), -1));
    loops.push_back(loop(d, alone));
  }
  pack.tensor = static_cast<std::uint32_t>(kernel_.tensors.size());
  kernel_.tensors.push_back(std::move(memory));
  const CellId value = kernel_.exprs.read(loads_[read], op_.operands[access.tensor].element);
  Store store;
  store.targets.push_back({pack.tensor, pack.at, value});
  if (are_speculatable({value})) in_lanes(loops, tile.lanes);
  read_from(pack);
  return around(std::move(loops), {{std::move(store)}});
}

std::vector<Statement> Lowering::lane_copies(const RegisterTile& tile, const Extents& extents) {
  std::vector<Statement> result;
  for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands)) {
    if (op_.exprs[id].op != CellOp::read) continue;
    const std::uint32_t read = op_.exprs[id].attribute;
    if (!is_given(op_.reads[read]) && uses_of_lane_copy(op_, op_.reads[read], tile.dim, extents))
      append(result, lane_copy(read, tile, extents));
  }
  if (!result.empty()) std::fill(cells_.begin(), cells_.end(), std::nullopt);
  return result;
}

}  // namespace tap::backend
