// Reductions of a group with their epilogues (epilogue.h). A group that consists of one of these has only its
// reduction's loop nest, with a different store.
#include <algorithm>

#include "backend/lower/lower_group.h"
#include "backend/lower/tile_dim.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

// The reduction, if all other operations are its epilogue.
std::optional<std::size_t> GroupLowering::single_nest() const {
  if (std::ranges::count(ends_another_, false) != 1 || std::ranges::count(streamed_, true) > 0) return {};
  for (const IndexDim& dim : group_.dims)
    if (dim.role != DimRole::parallel) return {};
  const std::size_t nest = static_cast<std::size_t>(std::ranges::find(ends_another_, false) - ends_another_.begin());
  return epilogues_[nest].empty() ? std::nullopt : std::optional(nest);
}

// The group's dim that corresponds to an operation's dim.
std::optional<std::size_t> GroupLowering::own_dim(std::size_t operation, std::size_t dim) const {
  const Window& window = windows_.operations[operation][dim];
  return window.length == 1 ? window.start.as_variable() : std::nullopt;
}

void GroupLowering::is_outermost(const std::vector<std::uint32_t>& at) {
  at_ = at;
  auto nest = single_nest();
  if (!nest) return;
  const Operator& op = program_[graph_.operations[*nest].op];
  Extents extents = extents_of(op);
  std::vector<std::size_t> dims;
  for (std::size_t d : free_dims(program_, op))
    if (auto own = own_dim(*nest, d)) {
      dims.push_back(d);
      extents.sizes[d] = spans_[*own].most;
    }
  const auto tile =
      tile_of_reduction(program_, op, extents, kernel_.exact_arithmetic, machine_, constant_operands(*nest));
  if (auto tile_dim = choose_tile_dim(kernel_, program_, op, extents, dims, tile))
    kernel_.tile_dim = own_dim(*nest, *tile_dim);
  for (std::size_t d = 0; d < points_.size(); ++d) points_[d] = spans_[d].most;
  as_one_nest_ = true;
}

// For a reduction and the maps of its epilogue.
std::size_t GroupLowering::level_with_endings(std::size_t number, const std::vector<DimSpan>& box,
                                              std::vector<std::size_t>& level_of_value) const {
  std::size_t level = level_of(number, box, level_of_value);
  for (const EpilogueMap& map : epilogues_[number]) {
    std::vector<DimSpan> its;
    for (std::size_t d : map.dims) its.push_back(box[d]);
    level = std::max(level, level_of(map.operation, its, level_of_value));
  }
  auto raise = [&](std::size_t operation) {
    for (ValueId v : graph_.operations[operation].results)
      level_of_value[v.index()] = std::max(level_of_value[v.index()], level);
  };
  raise(number);
  for (const EpilogueMap& map : epilogues_[number]) raise(map.operation);
  return level;
}

std::vector<Ending> GroupLowering::endings_of(std::size_t number, const OperatorInKernel& frame) const {
  std::vector<Ending> endings;
  std::vector<ValueId> in_registers = graph_.operations[number].results;
  for (const EpilogueMap& map : epilogues_[number]) {
    const Operation& operation = graph_.operations[map.operation];
    Ending ending;
    ending.op = &program_[operation.op];
    for (std::size_t d : map.dims) {
      ending.frame.lo.push_back(frame.lo[d]);
      ending.frame.hi.push_back(frame.hi[d]);
      ending.frame.at.push_back(frame.at[d]);
    }
    ending.frame.operands = tensors_of(operation.operands);
    ending.frame.results = tensors_of(operation.results);
    for (ValueId v : operation.operands) {
      auto found = std::ranges::find(in_registers, v);
      ending.registers.push_back(found == in_registers.end()
                                     ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(found - in_registers.begin())));
    }
    in_registers.insert(in_registers.end(), operation.results.begin(), operation.results.end());
    endings.push_back(std::move(ending));
  }
  return endings;
}

// By operand of the operation: constant operands of the group that no other inner operation reads.
std::vector<bool> GroupLowering::constant_operands(std::size_t number) const {
  std::vector<std::size_t> readers(graph_.values.size(), 0);
  for (const Operation& operation : graph_.operations)
    for (ValueId v : operation.operands) ++readers[v.index()];
  std::vector<bool> result;
  for (ValueId v : graph_.operations[number].operands) {
    auto input = static_cast<std::size_t>(std::ranges::find(graph_.inputs, v) - graph_.inputs.begin());
    result.push_back(input < constant_.size() && constant_[input] && readers[v.index()] == 1);
  }
  return result;
}

// By operand of the operation.
std::vector<bool> GroupLowering::inputs_of_group(std::size_t number) const {
  std::vector<bool> result;
  for (ValueId v : graph_.operations[number].operands) result.push_back(std::ranges::count(graph_.inputs, v) > 0);
  return result;
}

std::vector<Statement> GroupLowering::lowered_with_endings(std::size_t number, const OperatorInKernel& frame,
                                                           const std::vector<DimSpan>& box) {
  const Operation& operation = graph_.operations[number];
  const Operator& op = program_[operation.op];
  TAP_CHECK(op.map() || op.reduce(), "`" + op.name + "` cannot be inside a group");
  Lowering lowering(program_, op, kernel_, frame, machine_);
  lowering.note_steps(steps_);
  lowering.end_with(endings_of(number, frame));
  lowering.may_prepare(constant_operands(number));
  lowering.fetch(next_tiles(number));
  lowering.inside(tile_loops(), inputs_of_group(number));
  if (as_one_nest_ && kernel_.tile_dim) lowering.split_calls_along(at_[*kernel_.tile_dim]);
  auto body = lowering.run(extents_of_box(box), kernel_.exact_arithmetic);
  for (PreparedOperand& prepared : lowering.take_prepared()) {
    auto input = std::ranges::find(graph_.inputs, operation.operands[prepared.operand]);
    prepared.operand = static_cast<std::uint32_t>(input - graph_.inputs.begin());
    prepared_.push_back(std::move(prepared));
  }
  return body;
}

}  // namespace tap::backend
