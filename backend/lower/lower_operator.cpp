// The kernel of one operator: its arguments and its loops, over merged dims where these pass through memory together.
#include <algorithm>
#include <iterator>

#include "backend/lower/lower_group.h"
#include "backend/lower/lower_unfolded.h"
#include "backend/lower/lowering.h"
#include "backend/lower/merged_dims.h"
#include "backend/lower/tile_dim.h"
#include "backend/tiles/patterns.h"
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
  choose_tile_dim(kernel, program, op, extents, free_dims(program, op),
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
