#include "backend/lower/lower_unfolded.h"

#include <algorithm>

#include "backend/lower/lowering.h"
#include "backend/lower/tile_dim.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

class UnfoldedLowering {
 public:
  UnfoldedLowering(const UnfoldedWindows& unfolded, const Operator& op, const Extents& extents,
                   const LowerOptions& options, bool any_size)
      : unfolded_(unfolded), op_(op), extents_(extents), options_(options), within_(unfolded.within) {
    for (std::size_t d = 0; d < within_.exact.size(); ++d)
      if (any_size && unfolded_.op.dims[d].size() > 1) within_.exact[d] = false;
  }

  // False if too few parts can be made.
  bool run(Kernel& kernel) {
    kernel_ = &kernel;
    kernel.exact_arithmetic = options_.exact_arithmetic;
    original_ = declare(kernel, op_);
    for (std::size_t k = 0; k < op_.operands.size(); ++k)
      if (k != unfolded_.operand) kernel.tensors[original_.operands[k]].type = unfolded_.op.op.operands[k];
    for (std::size_t k = 0; k < op_.results.size(); ++k)
      kernel.tensors[original_.results[k]].type = unfolded_.op.op.results[k];
    one_ = original_;
    std::vector<Statement> body;
    for (std::size_t d : unfolded_.outside) {
      one_.lo[d] = original_.at[d];
      one_.hi[d] = define(body, "e." + op_.dims[d].name, plus_number(variable(original_.at[d]), 1));
      one_.at[d] = new_variable(op_.dims[d].name);
    }
    const bool outside = choose_outside();
    declare_copy();
    append(body, copy());
    append(body, reader(outside));
    std::vector<For> loops;
    for (std::size_t d : unfolded_.outside) {
      For loop;
      loop.variable = original_.at[d];
      loop.lower = {bound(variable(original_.lo[d]))};
      loop.upper = {bound(variable(original_.hi[d]))};
      loops.push_back(std::move(loop));
    }
    kernel.body = around(std::move(loops), std::move(body));
    if (options_.steps) *options_.steps = steps_of_original_dims(steps_, unfolded_.op, op_);
    if (options_.prepared) over_original_dims(*options_.prepared, unfolded_.op);
    return outside ||
           split_original_dim(kernel, unfolded_.op, op_, whole_tiles_ ? SplitAt::whole_tiles : SplitAt::any_tile);
  }
  void take_any_tile() { whole_tiles_ = false; }

 private:
  std::uint32_t new_variable(const std::string& name) {
    kernel_->variables.push_back(name);
    return static_cast<std::uint32_t>(kernel_->variables.size() - 1);
  }
  AffineExpr variable(std::uint32_t v) const { return AffineExpr::variable(kernel_->variables.size(), v); }
  static AffineExpr plus_number(AffineExpr e, std::int64_t n) {
    e.offset += n;
    return e;
  }
  std::uint32_t define(std::vector<Statement>& into, const std::string& name, AffineExpr e) {
    const std::uint32_t v = new_variable(name);
    into.push_back({Define{v, {bound(std::move(e))}, true}});
    return v;
  }

  // Calls that divide a dim outside copy nothing twice.
  bool choose_outside() {
    constexpr std::int64_t enough = 8;
    const std::vector<std::size_t> free = free_dims(unfolded_.op.program, op_);
    std::vector<std::size_t> dims;
    for (std::size_t d : unfolded_.outside)
      if (extents_.sizes[d] >= enough && std::ranges::count(free, d) > 0) dims.push_back(d);
    return choose_tile_dim(*kernel_, unfolded_.op.program, op_, extents_, dims, {}).has_value();
  }

  // Inside: parts along images copy little twice, parts along other dims everything.
  std::vector<std::size_t> dims_of_calls() const {
    constexpr std::int64_t enough = 512;
    const Operator& merged = unfolded_.op.op;
    const auto window = std::ranges::find(merged.reads, unfolded_.operand, &Access::tensor);
    std::vector<std::size_t> dims = free_dims(unfolded_.op.program, merged), along;
    for (std::size_t d : dims)
      if (uses(*window, d) && within_.sizes[d] >= enough) along.push_back(d);
    return along.empty() ? dims : along;
  }

  void declare_copy() {
    TensorArgument memory{"p" + std::to_string(kernel_->tensors.size()), unfolded_.copy.results[0], Local{}};
    memory.local->extents = unfolded_.extents;
    for (std::size_t axis = 0; axis < unfolded_.extents.size(); ++axis) {
      const auto own = axis < unfolded_.copied.size() ? unfolded_.copied[axis].row.as_variable() : std::nullopt;
      const bool moves = own && std::ranges::count(unfolded_.outside, *own) > 0;
      memory.local->origin.push_back(moves ? variable(original_.at[*own])
                                           : AffineExpr::constant(kernel_->variables.size(), 0));
    }
    copy_ = static_cast<std::uint32_t>(kernel_->tensors.size());
    kernel_->tensors.push_back(std::move(memory));
  }

  // What the box of the operator reads, each end of a range where the coefficient's sign has it.
  std::vector<Statement> copy() {
    std::vector<Statement> result;
    OperatorInKernel frame;
    Extents extents;
    extents.bounded = true;
    for (std::size_t k = 0; k < unfolded_.copied.size(); ++k) {
      const auto& [row, first] = unfolded_.copied[k];
      const IndexDim& dim = unfolded_.copy.dims[k];
      const auto own = row.as_variable();
      AffineExpr lo = AffineExpr::constant(kernel_->variables.size(), row.offset - first), hi = plus_number(lo, 1);
      for (std::size_t d = 0; d < row.coefficients.size(); ++d) {
        const std::int64_t c = row.coefficients[d];
        if (c == 0) continue;
        const std::uint32_t low = one_.lo[d], high = one_.hi[d];
        (c > 0 ? lo : hi).coefficients[low] += c;
        (c > 0 ? hi : lo).coefficients[high] += c;
        (c > 0 ? hi : lo).offset -= c;
      }
      frame.lo.push_back(own && first == 0 ? one_.lo[*own] : define(result, "lo." + dim.name, lo));
      frame.hi.push_back(own && first == 0 ? one_.hi[*own] : define(result, "hi." + dim.name, hi));
      frame.at.push_back(new_variable(dim.name));
      const bool outside = own && std::ranges::count(unfolded_.outside, *own) > 0;
      extents.sizes.push_back(outside ? 1 : dim.range.size());
      extents.exact.push_back(outside);  // of merged dims, a box may have part of a row
      extents.follows.push_back(own && !outside ? std::vector{static_cast<std::uint32_t>(*own)}
                                                : std::vector<std::uint32_t>());
    }
    frame.operands = {original_.operands[unfolded_.operand]};
    frame.results = {copy_};
    std::vector<BoxStep> steps(op_.dims.size());
    Lowering lowering(unfolded_.op.program, unfolded_.copy, *kernel_, frame, options_.machine);
    lowering.note_steps(&steps);
    append(result, lowering.run(extents, true));
    return result;
  }

  std::vector<Statement> reader(bool outside) {
    std::vector<Statement> result;
    one_.operands[unfolded_.operand] = copy_;
    const OperatorInKernel frame = merged_frame(unfolded_.op, op_, *kernel_, one_, result);
    const Operator& merged = unfolded_.op.op;
    Lowering lowering(unfolded_.op.program, merged, *kernel_, frame, options_.machine);
    const bool may_prepare = options_.prepared && !options_.any_box;
    const std::vector<bool> constant = may_prepare ? options_.constant : std::vector<bool>();
    if (!outside) {
      const auto tile = tile_of_reduction(unfolded_.op.program, merged, within_, true, options_.machine, constant);
      if (const auto dim = choose_tile_dim(*kernel_, unfolded_.op.program, merged, within_, dims_of_calls(), tile))
        lowering.split_calls_along(frame.at[*dim]);
    }
    if (may_prepare) lowering.may_prepare(constant);
    steps_.assign(merged.dims.size(), {});
    lowering.note_steps(&steps_);
    append(result, lowering.run(within_, true));
    if (options_.prepared) *options_.prepared = lowering.take_prepared();
    return result;
  }

  const UnfoldedWindows& unfolded_;
  const Operator& op_;
  const Extents& extents_;
  const LowerOptions& options_;
  Extents within_;
  bool whole_tiles_ = true;
  Kernel* kernel_ = nullptr;
  OperatorInKernel original_, one_;  // for all points of the dims outside, and for one
  std::uint32_t copy_ = 0;
  std::vector<BoxStep> steps_;
};

}  // namespace

Kernel lower_unfolded(const UnfoldedWindows& unfolded, const Operator& op, const Extents& extents,
                      const LowerOptions& options) {
  Kernel kernel;
  if (UnfoldedLowering(unfolded, op, extents, options, false).run(kernel)) return kernel;
  kernel = {};
  UnfoldedLowering any(unfolded, op, extents, options, true);
  any.take_any_tile();
  any.run(kernel);
  return kernel;
}

}  // namespace tap::backend
