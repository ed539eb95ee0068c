// What a kernel's loops mean, plainly: one point after another, one lane after another, in the memory that a call is given.
// An oracle beside the interpreter of operators (ir/interpret/interpret.h), which knows nothing of loops, lanes and registers.
//
//   Call call;   …   auto failure = interpret(kernel, call);      // as call.run(function, scratch)
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "backend/llvm/emit_state.h"
#include "backend/loops/loops.h"
#include "ir/interpret/interpret_number.h"
#include "tests/backend/call.h"

namespace tap::backend::test {

using ir::oracle::Number;

struct LoopFailure {
  KernelFailure why;
  std::vector<std::int64_t> point;
  std::uint32_t section = 0;
};

class LoopInterpreter {
 public:
  LoopInterpreter(const Kernel& kernel, const Call& call)
      : kernel_(kernel),
        call_(call),
        scratch_(scratch_bytes(kernel)),
        values_(kernel.variables.size()),
        turns_(kernel.variables.size()) {
    for (std::size_t v = 0; v < 2 * kernel.dims; ++v) values_[v] = call.box[v];
    if (kernel.tile_dim) {
      std::int64_t begin = call.box[kernel.lo(*kernel.tile_dim)];
      values_[kernel.lo(*kernel.tile_dim)] = begin + call.first_tile * kernel.grain;
      auto& end = *values_[kernel.hi(*kernel.tile_dim)];
      end = std::min(end, begin + call.end_tile * kernel.grain);
    }
    for (const Accumulator& a : kernel.accumulators) accumulators_.emplace_back(a.count * a.lanes, Number{.i = 0});
  }
  std::optional<LoopFailure> run() {
    try {
      block(kernel_.body);
      return {};
    } catch (const LoopFailure& failure) { return failure; }
  }

 private:
  struct LoopLanes {
    std::uint32_t variable;
    std::int64_t first;
    std::uint32_t count, active;
  };

  std::int64_t affine(const ir::AffineExpr& e) const {
    std::int64_t sum = e.offset;
    for (std::size_t v = 0; v < e.coefficients.size(); ++v)
      if (e.coefficients[v] != 0) sum += e.coefficients[v] * values_[v].value();
    return sum;
  }
  std::int64_t bounds(const std::vector<Bound>& bounds, bool greatest) const {
    std::optional<std::int64_t> result;
    for (const Bound& b : bounds) {
      double quotient = static_cast<double>(affine(b.expr)) / static_cast<double>(b.divisor);
      auto value = static_cast<std::int64_t>(greatest ? std::ceil(quotient) : std::floor(quotient));
      result = !result ? value : greatest ? std::max(*result, value) : std::min(*result, value);
    }
    return result.value();
  }

  // Memory. A coordinate outside what is there is a bug of the kernel, not a failure of the program.
  std::byte* address(std::uint32_t tensor, const std::vector<std::int64_t>& at) {
    const TensorArgument& its = kernel_.tensors[tensor];
    std::size_t size = size_of(its.type.element), next = 0;
    for (std::uint32_t t = 0; t < tensor; ++t)
      if (!kernel_.tensors[t].local) next += kernel_.tensors[t].type.shape.size();
    std::vector<std::int64_t> strides = row_major_strides(its.local ? its.local->extents : its.type.shape);
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      std::int64_t origin = its.local ? affine(its.local->origin[axis]) : 0;
      std::int64_t extent = its.local ? its.local->extents[axis] : its.type.shape[axis];
      if (at[axis] < origin || at[axis] >= origin + extent)
        throw std::out_of_range(its.name + " at " + std::to_string(at[axis]) + " of axis " + std::to_string(axis));
      bool given = !its.local && axis + 1 < at.size();
      offset += (at[axis] - origin) * (given ? call_.strides[next + axis] : strides[axis]);
    }
    std::byte* base = its.local ? scratch_.data() + scratch_offset(kernel_, tensor)
                                : static_cast<std::byte*>(call_.buffers[tensor]);
    return base + offset * static_cast<std::int64_t>(size);
  }
  Number load(std::uint32_t tensor, const std::vector<std::int64_t>& at) {
    Tensor cell(kernel_.tensors[tensor].type.element, {1});
    std::memcpy(cell.mutable_data(), address(tensor, at), cell.byte_size());
    return is_float(cell.type()) ? ir::oracle::number(cell.load_f64(0)) : ir::oracle::integer(cell.load_i64(0));
  }
  void store(std::uint32_t tensor, const std::vector<std::int64_t>& at, Number value) {
    Tensor cell(kernel_.tensors[tensor].type.element, {1});
    if (is_float(cell.type())) cell.store_f64(0, value.f);
    else cell.store_i64(0, value.i);
    std::memcpy(address(tensor, at), cell.data(), cell.byte_size());
  }
  Number& slot(std::uint32_t number, std::uint32_t lane) {
    const Slot& slot = kernel_.slots[number];
    const Accumulator& its = kernel_.accumulators[slot.accumulator];
    std::int64_t at = slot.at.offset;  // its variables say how often unrolled loops have gone round
    for (std::size_t v = 0; v < slot.at.coefficients.size(); ++v) at += slot.at.coefficients[v] * turns_[v];
    return accumulators_[slot.accumulator].at(static_cast<std::size_t>(at) * its.lanes + (its.lanes == 1 ? 0 : lane));
  }

  // Cells, at the values that the variables have.
  void fail(KernelFailure why) const {
    const SectionDims& dims = kernel_.sections[section_];
    LoopFailure failure{why, {}, section_};
    for (std::size_t d = 0; d < dims.at.size(); ++d)
      failure.point.push_back(values_[dims.at[d]] ? *values_[dims.at[d]] : values_[dims.lo[d]].value());
    throw LoopFailure{std::move(failure)};
  }
  Number cell(ir::CellId id) {
    auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    return known_[id] = compute(kernel_.exprs[id]);
  }
  Number compute(const ir::CellNode& node) {
    using ir::CellOp;
    const auto& args = node.args;
    switch (node.op) {
      case CellOp::constant: return ir::oracle::number_of(node.value);
      case CellOp::index: return ir::oracle::integer(values_[node.attribute].value());
      case CellOp::argument: {
        auto substitute = substitutes_.find(node.attribute);
        return substitute == substitutes_.end() ? slot(node.attribute, lane_) : substitute->second;
      }
      case CellOp::read: return read(kernel_.loads[node.attribute]);
      case CellOp::select: return cell(args[0]).i ? cell(args[1]) : cell(args[2]);
      case CellOp::logical_and: return cell(args[0]).i ? cell(args[1]) : ir::oracle::integer(0);
      case CellOp::logical_or: return cell(args[0]).i ? ir::oracle::integer(1) : cell(args[1]);
      case CellOp::cast: return ir::oracle::apply_cast(kernel_.exprs[args[0]].type, node.type, cell(args[0]));
      default: return strict(node);
    }
  }
  // f16 and bf16 are floats until they are stored or cast.
  Number strict(const ir::CellNode& node) {
    ElementType type = kernel_.exprs[node.args[0]].type;
    auto rounded = [&](double value) {
      return ir::oracle::number(node.type == ElementType::f64 ? value : static_cast<float>(value));
    };
    if (auto fused = fused_product(kernel_, node)) {
      const ir::CellNode& product = kernel_.exprs[fused->product];
      double a = cell(product.args[0]).f, b = cell(product.args[1]).f, c = cell(fused->accumulator).f;
      if (node.type == ElementType::f64) return ir::oracle::number(std::fma(a, b, c));
      return ir::oracle::number(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
    }
    Number a = cell(node.args[0]), b = node.args.size() > 1 ? cell(node.args[1]) : Number{.i = 0};
    if (is_float(type)) {
      Number result = ir::oracle::apply_float(node.op, a, b);
      return is_float(node.type) ? rounded(result.f) : result;
    }
    try {
      return ir::oracle::apply_integer(node.op, type, a, b);
    } catch (const ir::oracle::CellFailure&) {
      fail(node.op == ir::CellOp::div   ? KernelFailure::division_by_zero
           : node.op == ir::CellOp::mod ? KernelFailure::remainder_by_zero
                                        : KernelFailure::negative_shift);
      throw;
    }
  }
  Number read(const Load& load) {
    const Shape& shape = kernel_.tensors[load.tensor].type.shape;
    std::vector<std::int64_t> at;
    for (const Coordinate& c : load.at) at.push_back(c.data ? cell(*c.data).i : affine(c.affine));
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (!load.at[axis].checked || (at[axis] >= 0 && at[axis] < shape[axis])) continue;
      if (load.fill) return cell(*load.fill);
      fail(KernelFailure::index_out_of_range);
    }
    return this->load(load.tensor, at);
  }

  // Statements. Of lanes, each computes its values before any of them is written.
  void block(const std::vector<Statement>& body) {
    for (const Statement& s : body) std::visit([&](const auto& node) { run(node); }, s.node);
    for (const Statement& s : body) {
      if (const auto* define = std::get_if<Define>(&s.node)) values_[define->variable].reset();
      if (const auto* let = std::get_if<Let>(&s.node)) values_[let->variable].reset();
    }
  }
  template <class Work>
  void each_lane(std::uint32_t lanes, Work work) {
    for (lane_ = 0; lane_ < (lanes_ ? lanes_->active : lanes); ++lane_) {
      if (lanes_) values_[lanes_->variable] = lanes_->first + lane_;
      known_.clear();
      work();
    }
    lane_ = 0;
    if (lanes_) values_[lanes_->variable] = lanes_->first;
  }
  void run(const For& loop) {
    std::int64_t lower = bounds(loop.lower, true);
    std::optional<std::int64_t> upper;
    if (!loop.upper.empty()) upper = bounds(loop.upper, false);
    auto turn = [&](std::int64_t value) {
      values_[loop.variable] = value;
      block(loop.body);
    };
    if (loop.kind == LoopKind::lanes) {
      std::int64_t active = upper ? std::clamp<std::int64_t>(*upper - lower, 0, loop.count) : loop.count;
      lanes_ = LoopLanes{loop.variable, lower, loop.count, static_cast<std::uint32_t>(active)};
      turn(lower);
      lanes_.reset();
    } else if (loop.kind == LoopKind::unrolled) {
      for (std::int64_t& k = turns_[loop.variable]; k < loop.count; ++k) turn(lower + k);
      turns_[loop.variable] = 0;
    } else if (loop.descending) {
      for (std::int64_t value = *upper - 1; value >= lower; --value) turn(value);
    } else {
      for (std::int64_t value = lower; value < *upper; value += loop.step) turn(value);
    }
    values_[loop.variable].reset();
  }
  void run(const Guard& guard) {
    known_.clear();
    for (const ir::Constraint& c : guard.conditions) {
      std::int64_t value = affine(c.expr);
      if (c.comparison == ir::Comparison::equal_zero ? value != 0 : value < 0) return;
    }
    if (guard.cell && !cell(*guard.cell).i) return;
    block(guard.body);
  }
  void run(const Define& define) { values_[define.variable] = bounds(define.bounds, define.greatest); }
  void run(const Let& let) {
    known_.clear();
    values_[let.variable] = cell(let.value).i;
  }
  void run(const Assign& assign) {
    std::uint32_t lanes = kernel_.accumulators[kernel_.slots[assign.slots[0]].accumulator].lanes;
    std::vector<Number> values;
    each_lane(lanes, [&] {
      for (ir::CellId value : assign.values) values.push_back(cell(value));
    });
    std::size_t next = 0;
    each_lane(lanes, [&] {
      for (std::uint32_t s : assign.slots) slot(s, lane_) = values[next++];
    });
  }
  void run(const Store& store) {
    std::vector<Number> values;
    each_lane(1, [&] {
      for (const Store::Target& target : store.targets) values.push_back(cell(target.value));
    });
    std::size_t next = 0;
    each_lane(1, [&] {
      for (const Store::Target& target : store.targets) {
        std::vector<std::int64_t> at;
        for (const ir::AffineExpr& e : target.at) at.push_back(affine(e));
        this->store(target.tensor, at, values[next++]);
      }
    });
  }
  void run(const Prefetch&) {}  // computes nothing
  void run(const FoldLanes& fold) {
    std::uint32_t lanes = kernel_.accumulators[kernel_.slots[fold.from[0]].accumulator].lanes;
    std::vector<std::vector<Number>> now(fold.from.size());
    for (std::size_t k = 0; k < now.size(); ++k)
      for (std::uint32_t lane = 0; lane < lanes; ++lane) now[k].push_back(slot(fold.from[k], lane));
    for (std::uint32_t half = lanes / 2; half > 0; half /= 2)
      for (std::uint32_t lane = 0; lane < half; ++lane) {
        for (std::size_t k = 0; k < now.size(); ++k) {
          substitutes_[fold.first[k]] = now[k][lane];
          substitutes_[fold.second[k]] = now[k][lane + half];
        }
        known_.clear();
        std::vector<Number> values;
        for (ir::CellId value : fold.values) values.push_back(cell(value));
        for (std::size_t k = 0; k < now.size(); ++k) now[k][lane] = values[k];
      }
    substitutes_.clear();
    for (std::size_t k = 0; k < now.size(); ++k) slot(fold.to[k], 0) = now[k][0];
  }
  void run(const Section& section) {
    std::uint32_t outer = std::exchange(section_, section.section);
    block(section.body);
    section_ = outer;
  }

  const Kernel& kernel_;
  const Call& call_;
  std::vector<std::byte> scratch_;
  std::vector<std::optional<std::int64_t>> values_;  // of variables in scope
  std::vector<std::int64_t> turns_;                  // of unrolled loops
  std::vector<std::vector<Number>> accumulators_;    // by number, then lane
  std::optional<LoopLanes> lanes_;
  std::uint32_t lane_ = 0, section_ = 0;
  std::map<std::uint32_t, Number> substitutes_;  // in a fold, by slot
  std::map<ir::CellId, Number> known_;           // at this point
};

inline std::optional<LoopFailure> interpret(const Kernel& kernel, const Call& call) {
  return LoopInterpreter(kernel, call).run();
}

}  // namespace tap::backend::test
