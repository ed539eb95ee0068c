// The kernel of one operator: its arguments, the dim along which calls split it, and its loops, over merged dims where these pass
// through memory together.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "backend/lower/lower_group.h"
#include "backend/lower/lower_unfolded.h"
#include "backend/lower/lowering.h"
#include "backend/lower/merged_dims.h"
#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "backend/tiles/point_work.h"
#include "backend/tiles/repeated_reads.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

OperatorInKernel declare(Kernel& kernel, const Operator& op) {
  OperatorInKernel frame;
  for (const auto* list : {&op.operands, &op.results})
    for (const TensorType& t : *list) {
      (list == &op.operands ? frame.operands : frame.results)
          .push_back(static_cast<std::uint32_t>(kernel.tensors.size()));
      kernel.tensors.push_back({"t" + std::to_string(kernel.tensors.size()), t});
    }
  kernel.operands = op.operands.size();
  kernel.results = op.results.size();
  kernel.dims = op.dims.size();
  for (const auto& dim : op.dims) {
    kernel.variables.push_back("lo." + dim.name);
    kernel.variables.push_back("hi." + dim.name);
  }
  for (const auto& dim : op.dims) kernel.variables.push_back(dim.name);
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    frame.lo.push_back(kernel.lo(d));
    frame.hi.push_back(kernel.hi(d));
    frame.at.push_back(kernel.at(d));
  }
  kernel.sections.push_back({frame.lo, frame.at, frame.operands});
  return frame;
}

namespace {

// How many points are worth a call: about as many take 1.5 us, if their data are in the caches.
double points_worth_a_call(const Operator& op) {
  constexpr double points = 1 << 14, usual = 8;  // instructions
  return points * usual / std::max(usual, instructions_of_point(op));
}

// Bytes that a part along this dim has together in memory, of the tensors of which every point has a cell of its own.
std::int64_t bytes_together(const Operator& op, const Extents& extents, std::size_t dim) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  auto see = [&](const Access& access, const TensorType& type) {
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (extents.sizes[d] > 1 && !uses(access, d)) return;
    least = std::min(least, distance_along(type, access, dim));
  };
  for (const Access& read : op.reads) see(read, op.operands[read.tensor]);
  for (const Access& write : op.writes) see(write, op.results[write.tensor]);
  return least;
}

// Of a map: if several dims have enough points, the one along which parts lie most together in memory, or else `dim`. Threads that
// write pieces of some kilobytes in turns fetch each other's lines.
std::size_t dim_of_large_pieces(const Operator& op, const Extents& extents, const std::vector<std::size_t>& dims,
                                double parts, std::size_t dim) {
  constexpr double enough = 64;
  if (!op.map()) return dim;
  std::int64_t most = bytes_together(op, extents, dim);
  for (std::size_t d : dims) {
    if (static_cast<double>(extents.sizes[d]) < std::clamp(parts, 2.0, enough)) continue;
    const std::int64_t bytes = bytes_together(op, extents, d);
    if (bytes <= most) continue;
    dim = d, most = bytes;
  }
  return dim;
}

// Of a reduction: a dim along which parts have clearly less to repeat, or else `dim`.
std::size_t dim_of_least_repeated(const Operator& op, const Extents& extents, const std::vector<std::size_t>& dims,
                                  std::size_t dim, const std::optional<RegisterTile>& tile) {
  constexpr double clearly = 0.7;
  if (!op.reduce()) return dim;
  double least = share_of_parts(op, extents, dim, tile) * clearly;
  for (std::size_t d : dims) {
    const double share = share_of_parts(op, extents, d, tile);
    if (share < least) dim = d, least = share;
  }
  return dim;
}

}  // namespace

// Also records how many points are worth a call. Parts along a contiguous dim share cache lines, so such a dim must be
// considerably larger. Pre: parts along these dims share no work.
std::optional<std::size_t> choose_tile_dim(Kernel& kernel, const Operator& op, const Extents& extents,
                                           const std::vector<std::size_t>& dims,
                                           const std::optional<RegisterTile>& tile) {
  constexpr std::int64_t larger = 4;
  const double worth = points_worth_a_call(op);
  double points = 1;
  for (std::int64_t size : extents.sizes) points *= static_cast<double>(std::max<std::int64_t>(size, 1));
  auto is_contiguous_along = [&](std::size_t d) {
    auto dense = [&](const Access& access) {
      const auto& rows = access.projection.start.rows;
      return !rows.empty() && rows.back().coefficients[d] != 0;
    };
    return std::ranges::any_of(op.reads, dense) || std::ranges::any_of(op.writes, dense);
  };
  std::int64_t most = 0;
  for (std::size_t d : dims)
    if (std::int64_t size = extents.sizes[d] * (is_contiguous_along(d) ? 1 : larger); !kernel.tile_dim || size > most) {
      kernel.tile_dim = d;
      most = size;
    }
  if (!kernel.tile_dim) return {};
  kernel.tile_dim = dim_of_large_pieces(op, extents, dims, points / worth, *kernel.tile_dim);
  kernel.tile_dim = dim_of_least_repeated(op, extents, dims, *kernel.tile_dim, tile);
  double each = points / static_cast<double>(std::max<std::int64_t>(extents.sizes[*kernel.tile_dim], 1));
  kernel.worth = each >= worth ? 1 : static_cast<std::int64_t>(std::ceil(worth / each));
  return kernel.tile_dim;
}

std::optional<RegisterTile> tile_of_reduction(const Program& program, const Operator& op, const Extents& extents,
                                              bool exact_arithmetic, const Machine& machine,
                                              const std::vector<bool>& prepared) {
  if (!op.reduce() || native_scan(op) || native_scatter(program, op)) return {};
  return choose_tile(program, op, extents, !exact_arithmetic, machine, prepared);
}

namespace {

// Lowers the operator on the kernel's box, given by the variables of the frame.
void lower_in(const Program& program, const Operator& op, Kernel& kernel, const OperatorInKernel& frame,
              const Extents& extents, const LowerOptions& options) {
  if (options.steps) options.steps->assign(op.dims.size(), {});
  if (op.region()) return lower_group(program, op, kernel, frame, extents, options);
  const std::vector<bool> prepared = options.prepared && !options.any_box ? options.constant : std::vector<bool>();
  choose_tile_dim(kernel, op, extents, free_dims(program, op),
                  tile_of_reduction(program, op, extents, options.exact_arithmetic, options.machine, prepared));
  Lowering lowering(program, op, kernel, frame, options.machine);
  if (kernel.tile_dim) lowering.split_calls_along(frame.at[*kernel.tile_dim]);
  if (options.prepared && !options.any_box) lowering.may_prepare(options.constant);
  lowering.note_steps(options.steps);
  kernel.body = lowering.run(extents, options.exact_arithmetic);
  if (options.prepared) *options.prepared = lowering.take_prepared();
}

Extents extents_of_boxes(const Operator& op, bool any_box) {
  Extents extents = op.region() ? extents_of_group(op) : extents_of(op);
  if (any_box) std::fill(extents.exact.begin(), extents.exact.end(), false);
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) extents.follows.push_back({d});
  return extents;
}

// With the merged dims. With `any_size`, the extents of those along which calls split the kernel are not assumed.
Kernel lower_merged(const MergedOperator& merged, const Operator& op, const LowerOptions& options, bool any_size) {
  Kernel kernel;
  kernel.exact_arithmetic = options.exact_arithmetic;
  const OperatorInKernel original = declare(kernel, op);
  std::vector<Statement> definitions;
  const OperatorInKernel frame = merged_frame(merged, op, kernel, original, definitions);
  for (std::size_t k = 0; k < op.operands.size(); ++k) kernel.tensors[frame.operands[k]].type = merged.op.operands[k];
  for (std::size_t k = 0; k < op.results.size(); ++k) kernel.tensors[frame.results[k]].type = merged.op.results[k];
  std::vector<BoxStep> steps;
  LowerOptions own = options;
  own.steps = &steps;
  Extents extents = extents_of_boxes(merged.op, options.any_box);
  for (std::size_t d = 0; d < merged.dims.size(); ++d)
    if (any_size && merged.dims[d].size() > 1) extents.exact[d] = false;
  lower_in(merged.program, merged.op, kernel, frame, extents, own);
  definitions.insert(definitions.end(), std::make_move_iterator(kernel.body.begin()),
                     std::make_move_iterator(kernel.body.end()));
  kernel.body = std::move(definitions);
  if (options.steps) *options.steps = steps_of_original_dims(steps, merged, op);
  if (options.prepared) over_original_dims(*options.prepared, merged);
  return kernel;
}

Kernel lower_merged(const MergedOperator& merged, const Operator& op, const LowerOptions& options) {
  Kernel kernel = lower_merged(merged, op, options, false);
  if (split_original_dim(kernel, merged, op, SplitAt::whole_tiles)) return kernel;
  kernel = lower_merged(merged, op, options, true);
  split_original_dim(kernel, merged, op, SplitAt::any_tile);
  return kernel;
}

}  // namespace

Kernel lower(const Program& program, const Operator& op, const LowerOptions& options) {
  Kernel kernel;
  kernel.exact_arithmetic = options.exact_arithmetic;
  const Extents extents = extents_of_boxes(op, options.any_box);
  const bool may_prepare = options.prepared && !options.any_box;
  const std::vector<bool> constant = may_prepare ? options.constant : std::vector<bool>();
  if (!options.any_box)
    if (const auto unfolded = unfold_windows(program, op, extents, constant, options.exact_arithmetic, options.machine))
      return lower_unfolded(*unfolded, op, extents, options);
  if (auto merged = merge_dims(program, op, extents, constant)) return lower_merged(*merged, op, options);
  lower_in(program, op, kernel, declare(kernel, op), extents, options);
  return kernel;
}

}  // namespace tap::backend
