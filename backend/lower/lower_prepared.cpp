// Prepared operands: packed operands that are the same in every run (the `const` inputs of a program) are packed
// once, before it runs. The packing is an ordinary map, and the kernel reads its result instead of the operand.
//
//   y[i, j] = sum[k] x[i, k] * w[k, j]     w: f32[900, 700], taken in panels of 32 columns
//
//   w.panels[p, k, s] = w[k, 32*p + s else 0]     over p in 0..22, k in 0..900, s in 0..32
#include <algorithm>

#include "backend/lower/lowering.h"

namespace tap::backend {

using namespace ir;

// Every call must find its panels where they were made, so no dim of the operand may be split, except by calls, which
// split at whole panels (set_grain).
bool Lowering::can_prepare(const Access& access) const {
  if (access.tensor >= constant_.size() || !constant_[access.tensor]) return false;
  auto same = [&](const Access& other) { return other.tensor == access.tensor; };
  if (std::count_if(op_.reads.begin(), op_.reads.end(), same) != 1) return false;
  for (std::size_t d = 0; d < op_.dims.size(); ++d) {
    if (!uses(access, d)) continue;
    auto is_of_dim = [&](const Blocking& b) { return b.dim == d || b.block_dim == d; };
    if (op_.dims[d].role == DimRole::counter || std::any_of(op_.blockings.begin(), op_.blockings.end(), is_of_dim))
      return false;
    if (extents_.sizes[d] != op_.dims[d].range.size() || !extents_.exact[d]) return false;
  }
  return true;
}

// By operand.
std::vector<bool> Lowering::preparable() const {
  std::vector<bool> result(constant_.size(), false);
  for (const Access& access : op_.reads)
    if (can_prepare(access)) result[access.tensor] = true;
  return result;
}

// The dims of the prepared operand, if possible: outer dims, panels (in place of the dim that they divide), then the
// reduction's.
std::optional<std::vector<std::size_t>> Lowering::prepared_dims(std::uint32_t read, const PackedDim& along) const {
  const Access& access = op_.reads[read];
  if (!can_prepare(access) || along.block->loop.step % along.step != 0) return {};
  std::vector<std::size_t> outside, reductions;
  for (std::size_t d = 0; d < op_.dims.size(); ++d)
    if (uses(access, d) && d != along.dim) (op_.dims[d].role == DimRole::reduction ? reductions : outside).push_back(d);
  outside.push_back(along.dim);
  outside.insert(outside.end(), reductions.begin(), reductions.end());
  return outside;
}

// Redirects the cells' reads to the prepared operand. The statement computes the first panel of a block.
Statement Lowering::prepare(std::uint32_t read, const PackedDim& along, const std::vector<std::size_t>& dims) {
  const Access& access = op_.reads[read];
  const TensorType& type = op_.operands[access.tensor];
  const std::uint32_t tensor = frame_.operands[access.tensor], first = new_variable("g." + op_.dims[along.dim].name);
  Load load;
  load.tensor = tensor;
  Operator map;
  map.name = op_.name;
  std::vector<std::size_t> at(op_.dims.size());  // by dim: the map's dim
  Shape shape;
  auto axis = [&](const std::string& name, std::int64_t extent, AffineExpr where) {
    map.dims.push_back({name, {0, extent}});
    shape.push_back(extent);
    load.at.push_back({std::move(where), {}, false});
  };
  for (std::size_t d : dims) {
    const IndexDim& dim = op_.dims[d];
    at[d] = map.dims.size();
    if (d == along.dim)
      axis(dim.name, (dim.range.size() + along.step - 1) / along.step,
           plus(variable(first), variable(along.panels->number)));
    else axis(dim.name, dim.range.size(), plus(variable(frame_.at[d]), number(-dim.range.lo)));
  }
  const std::size_t within = map.dims.size();
  axis("s", along.step, plus(variable(frame_.at[along.dim]), variable(along.panels->first), -1));

  Access from, to;
  from.projection.start.inputs = to.projection.start.inputs = map.dims.size();
  from.projection.shape = Shape(type.shape.size(), 1);
  to.projection.shape = Shape(shape.size(), 1);
  for (const AffineExpr& row : access.projection.start.rows) {
    AffineExpr e = AffineExpr::constant(map.dims.size(), row.offset);
    for (std::size_t d : dims) {
      std::int64_t c = row.coefficients[d];
      e.offset += c * op_.dims[d].range.lo;
      e.coefficients[at[d]] = d == along.dim ? c * along.step : c;
      if (d == along.dim) e.coefficients[within] = c;
    }
    from.projection.start.rows.push_back(std::move(e));
  }
  for (std::size_t d = 0; d < map.dims.size(); ++d)
    to.projection.start.rows.push_back(AffineExpr::variable(map.dims.size(), d));
  const Scalar outside = access.fill ? op_.exprs[*access.fill].value : Scalar::zero(type.element);
  from.fill = map.exprs.constant(outside);
  map.body = MapBody{{map.exprs.read(0, type.element)}};
  map.operands = {type};
  map.results = {{type.element, shape}};
  map.reads = {std::move(from)};
  map.writes = {std::move(to)};
  kernel_.tensors[tensor].type = map.results[0];
  kernel_.loads[loads_[read]] = std::move(load);
  prepared_.push_back(
      {access.tensor, std::move(map), {dims.begin(), dims.end()}, static_cast<std::uint32_t>(along.dim), along.step});
  assume(along.dim, along.step, along.step);  // panels start where they were made
  AffineExpr before = plus(variable(along.block->from), number(-op_.dims[along.dim].range.lo));
  return {Define{first, {bound(std::move(before), along.step)}, true}};
}

}  // namespace tap::backend
