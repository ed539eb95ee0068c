// Compiling cell expressions into blocks, and running them.
#include "ir/interpret/interpret_cell.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interpret/interpret_bounds.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::ir::oracle {
namespace {

constexpr std::uint64_t always = std::numeric_limits<std::uint64_t>::max();

}  // namespace

CellEvaluator::CellEvaluator(const CellExprs& exprs, bool with_bounds) : exprs_(exprs), with_bounds_(with_bounds) {
  std::size_t n = exprs.size();
  cells_.resize(n);
  computed_.resize(n);
  block_by_root_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const CellNode& node = exprs[CellId(k)];
    if (node.op != CellOp::constant) continue;
    cells_[k].value = number_of(node.value);
    computed_[k] = always;
  }
}

void CellEvaluator::bind(std::vector<Reader> readers, const Point* point) {
  readers_ = std::move(readers);
  point_ = point;
}

BlockId CellEvaluator::compile(const std::vector<CellId>& roots) {
  if (steps_.empty()) {
    for (std::size_t k = 0; k < exprs_.size(); ++k) steps_.push_back(make_step(CellId(k)));
  }
  blocks_.push_back(order(roots));
  BlockId result(blocks_.size() - 1);
  while (!pending_.empty()) {
    CellId root = pending_.back();
    pending_.pop_back();
    blocks_[block_by_root_[root.index()].index()] = order({root});
  }
  return result;
}

CellEvaluator::Step CellEvaluator::make_step(CellId id) {
  const CellNode& node = exprs_[id];
  Step step{node.op, node.type, node.type, false, node.attribute, {0, 0, 0}, {}};
  if (!node.args.empty()) step.operand_type = exprs_[node.args[0]].type;
  step.floating = is_float(step.operand_type);
  for (std::size_t k = 0; k < node.args.size(); ++k) step.args[k] = static_cast<std::uint32_t>(node.args[k].index());
  if (node.op == CellOp::select) {
    step.lazy[0] = block_of(node.args[1]);
    step.lazy[1] = block_of(node.args[2]);
  } else if (node.op == CellOp::logical_and || node.op == CellOp::logical_or) {
    step.lazy[0] = block_of(node.args[1]);
  } else if (node.op == CellOp::read && readers_[node.attribute].fill) {
    step.args[0] = static_cast<std::uint32_t>(readers_[node.attribute].fill->index());
    step.lazy[0] = block_of(*readers_[node.attribute].fill);
  }
  return step;
}

// One block for each root that is needed only sometimes, shared by its users. Compiled later, to avoid recursion.
BlockId CellEvaluator::block_of(CellId root) {
  BlockId& block = block_by_root_[root.index()];
  if (!block.valid()) {
    block = BlockId(blocks_.size());
    blocks_.emplace_back();
    pending_.push_back(root);
  }
  return block;
}

// The cells that must be computed before the node, whatever the values are.
std::vector<CellId> CellEvaluator::strict_needs(CellId id) const {
  const CellNode& node = exprs_[id];
  if (info(node.op).kind == CellKind::lazy) return {node.args[0]};
  if (node.op != CellOp::read) return node.args;
  std::vector<CellId> needs;
  for (const Reader::Axis& axis : readers_[node.attribute].axes) {
    if (axis.coordinate) needs.push_back(*axis.coordinate);
  }
  return needs;
}

// The strict needs of the roots in post-order, without constants, by an explicit stack.
CellEvaluator::Block CellEvaluator::order(const std::vector<CellId>& roots) const {
  Block block;
  std::vector<bool> entered(exprs_.size()), done(exprs_.size());
  std::vector<CellId> stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    CellId id = stack.back();
    bool leave = entered[id.index()] || exprs_[id].op == CellOp::constant;
    if (!leave) {
      entered[id.index()] = true;
      std::vector<CellId> needs = strict_needs(id);
      for (auto need = needs.rbegin(); need != needs.rend(); ++need) {
        if (!entered[need->index()]) stack.push_back(*need);
      }
      continue;
    }
    stack.pop_back();
    if (done[id.index()] || exprs_[id].op == CellOp::constant) continue;
    done[id.index()] = true;
    block.push_back(static_cast<std::uint32_t>(id.index()));
  }
  return block;
}

void CellEvaluator::run(BlockId block) {
  for (std::uint32_t node : blocks_[block.index()]) {
    if (computed_[node] >= now_) continue;
    cells_[node] = compute(steps_[node]);
    computed_[node] = now_;
  }
}

const Cell& CellEvaluator::demand(BlockId block, std::uint32_t node) {
  run(block);
  return cells_[node];
}

// The value of a branch that is not taken; null if it cannot be computed at this point.
const Cell* CellEvaluator::speculate(BlockId block, std::uint32_t node) {
  ++speculating_;
  const Cell* result = nullptr;
  try {
    result = &demand(block, node);
  } catch (const CellFailure&) {}
  --speculating_;
  return result;
}

Cell CellEvaluator::compute(const Step& step) {
  switch (step.op) {
    case CellOp::index: return {integer((*point_)[step.attribute]), 0};
    case CellOp::argument: return arguments_[step.attribute];
    case CellOp::read: return follow(step);
    case CellOp::logical_and:
    case CellOp::logical_or:
    case CellOp::select: return lazy(step);
    case CellOp::reduce: TAP_UNREACHABLE("a fold's reduction is not evaluated; its monoid's combination is");
    default: return strict(step);
  }
}

Cell CellEvaluator::strict(const Step& step) const {
  const Cell& a = cells_[step.args[0]];
  const Cell& b = cells_[step.args[1]];
  if (step.op == CellOp::cast) {
    Number r = apply_cast(step.operand_type, step.type, a.value);
    return {r, with_bounds_ ? error_of_cast(step.operand_type, step.type, a, r) : 0};
  }
  Number r = step.floating ? apply_float(step.op, a.value, b.value)
                           : apply_integer(step.op, step.operand_type, a.value, b.value);
  return {r, with_bounds_ ? error_of(step.op, step.operand_type, a, b, r) : 0};
}

Cell CellEvaluator::lazy(const Step& step) {
  const Cell condition = cells_[step.args[0]];
  if (step.op == CellOp::select) {
    if (condition.error > 0) return either(step, condition);
    bool taken = condition.value.i != 0;
    return demand(step.lazy[taken ? 0 : 1], step.args[taken ? 1 : 2]);
  }
  // `a and b`: b decides unless a is false; `a or b`: unless a is true.
  bool decided = (condition.value.i != 0) == (step.op == CellOp::logical_or);
  if (condition.error == 0) return decided ? condition : demand(step.lazy[0], step.args[1]);
  const Cell* right = decided ? speculate(step.lazy[0], step.args[1]) : &demand(step.lazy[0], step.args[1]);
  if (!right) return {condition.value, infinity};
  bool settles = right->error == 0 && (right->value.i != 0) == (step.op == CellOp::logical_or);
  return {decided ? condition.value : right->value, settles ? 0.0 : 1.0};
}

// Another evaluation may decide the condition differently: the bound then covers the other branch's result.
Cell CellEvaluator::either(const Step& step, const Cell& condition) {
  int taken = condition.value.i != 0 ? 0 : 1;
  const Cell result = demand(step.lazy[taken], step.args[taken + 1]);
  const Cell* other = speculate(step.lazy[1 - taken], step.args[2 - taken]);
  if (!other) return {result.value, infinity};
  return {result.value, std::max(result.error, distance(step.type, result.value, other->value) + other->error)};
}

Cell CellEvaluator::follow(const Step& step) {
  const Reader& reader = readers_[step.attribute];
  std::int64_t position = 0;
  double error = 0;
  for (std::size_t k = 0; k < reader.axes.size(); ++k) {
    const Reader::Axis& axis = reader.axes[k];
    std::int64_t at = axis.offset;
    if (axis.coordinate) {
      at = cells_[axis.coordinate->index()].value.i;
      if (cells_[axis.coordinate->index()].error > 0) error = infinity;
    } else {
      for (auto [dim, coefficient] : axis.terms) at += coefficient * (*point_)[dim];
    }
    if (at < 0 || at >= axis.extent) {
      if (reader.fill) {
        Cell fill = demand(step.lazy[0], step.args[0]);
        return {fill.value, std::max(fill.error, error)};
      }
      TAP_CHECK(axis.coordinate || speculating_ > 0,
                "a read of `" + reader.name + "` is out of bounds at " + std::to_string(at));
      throw CellFailure{"index " + std::to_string(at) + " is out of range for axis " + std::to_string(k) + " of `" +
                        reader.name + "`, which has extent " + std::to_string(axis.extent) + ","};
    }
    position += at * axis.stride;
  }
  const Datum& datum = *reader.datum;
  if (with_bounds_ && datum.has_bound()) error = std::max(error, datum.bound.load_f64(position));
  if (is_float(step.type)) return {number(datum.value.load_f64(position)), error};
  return {integer(datum.value.load_i64(position)), error};
}

}  // namespace tap::ir::oracle
