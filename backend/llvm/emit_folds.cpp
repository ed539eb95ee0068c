#include "backend/llvm/emit_folds.h"

#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "backend/llvm/emit_straight.h"

namespace tap::backend {

using llvm::Value;

namespace {

constexpr int nothing = -1;                   // in a shuffle; and a row that does not exist
constexpr std::uint32_t register_bytes = 16;  // within which shuffles are cheap

// A vector of parts, each the remaining lanes of one row.
struct Parts {
  Value* vector;
  std::vector<int> rows;
};

class Together {
 public:
  Together(EmitState& state, const FoldLanes& fold, std::uint32_t lanes, std::uint32_t bytes)
      : b_(state.b), s_(state), fold_(fold), each_(lanes), in_register_(std::max(register_bytes / bytes, 1u)) {}

  std::vector<Parts> run(std::vector<Parts> now) {
    for (; each_ > 1; each_ /= 2) {
      std::vector<Parts> next;
      for (std::size_t k = 0; k < now.size(); k += 2)
        next.push_back(k + 1 < now.size() ? both(now[k], now[k + 1]) : alone(now[k]));
      now = std::move(next);
    }
    return now;
  }

 private:
  Value* combined(Value* first, Value* second, std::uint32_t lanes) {
    StraightCells cell(s_, {{fold_.first[0], first}, {fold_.second[0], second}});
    return cell.splat(cell(fold_.values[0]), lanes);
  }
  static std::uint32_t lanes(const Parts& parts) { return lanes_of(parts.vector); }

  Parts alone(const Parts& a) {
    std::vector<int> low, high;
    for (std::uint32_t part = 0; part < lanes(a); part += each_)
      for (std::uint32_t k = 0; k < each_ / 2; ++k) {
        low.push_back(static_cast<int>(part + k));
        high.push_back(static_cast<int>(part + k + each_ / 2));
      }
    Value *first = b_.CreateShuffleVector(a.vector, low), *second = b_.CreateShuffleVector(a.vector, high);
    return {combined(first, second, static_cast<std::uint32_t>(low.size())), a.rows};
  }

  // Parts that are shorter than a register stay in the register where they are.
  Parts both(Parts a, Parts b) {
    const std::uint32_t all = std::max(lanes(a), lanes(b));
    for (Parts* one : {&a, &b}) widen(*one, all);
    const std::uint32_t block = each_ <= in_register_ ? std::min(all, in_register_) : all;
    std::vector<int> low, high, rows;
    for (std::uint32_t begin = 0; begin < all; begin += block)
      for (const bool second : {false, true})
        for (std::uint32_t part = begin; part < begin + block; part += each_) {
          rows.push_back((second ? b : a).rows[part / each_]);
          for (std::uint32_t k = 0; k < each_ / 2; ++k) {
            low.push_back(static_cast<int>(part + k + (second ? all : 0)));
            high.push_back(low.back() + static_cast<int>(each_ / 2));
          }
        }
    Value* first = b_.CreateShuffleVector(a.vector, b.vector, low);
    Value* second = b_.CreateShuffleVector(a.vector, b.vector, high);
    return {combined(first, second, all), std::move(rows)};
  }

  void widen(Parts& parts, std::uint32_t to) {
    if (lanes(parts) == to) return;
    std::vector<int> which(to, nothing);
    std::iota(which.begin(), which.begin() + lanes(parts), 0);
    parts.vector = b_.CreateShuffleVector(parts.vector, which);
    parts.rows.resize(to / each_, nothing);
  }

  llvm::IRBuilderBase& b_;
  EmitState& s_;
  const FoldLanes& fold_;
  std::uint32_t each_, in_register_;  // lanes
};

}  // namespace

std::vector<Value*> folded(EmitState& state, const FoldLanes& fold, std::vector<Value*> now) {
  llvm::IRBuilderBase& b = state.b;
  auto part = [&](Value* v, std::uint32_t first, std::uint32_t count) -> Value* {
    if (count == 1) return b.CreateExtractElement(v, first);
    std::vector<int> which(count);
    std::iota(which.begin(), which.end(), static_cast<int>(first));
    return b.CreateShuffleVector(v, which);
  };
  for (std::uint32_t lanes = lanes_of(now[0]) / 2; lanes > 0; lanes /= 2) {
    std::map<std::uint32_t, Value*> slots;
    for (std::size_t k = 0; k < now.size(); ++k) {
      slots[fold.first[k]] = part(now[k], 0, lanes);
      slots[fold.second[k]] = part(now[k], lanes, lanes);
    }
    StraightCells cell(state, std::move(slots));
    for (std::size_t k = 0; k < now.size(); ++k) now[k] = cell.splat(cell(fold.values[k]), lanes);
  }
  return now;
}

std::vector<Value*> folded_together(EmitState& state, const FoldLanes& fold, const std::vector<Value*>& rows) {
  std::vector<Parts> parts;
  for (std::size_t r = 0; r < rows.size(); ++r) parts.push_back({rows[r], {static_cast<int>(r)}});
  const std::uint32_t bytes = std::max(rows[0]->getType()->getScalarSizeInBits() / 8, 1u);
  std::vector<Value*> result(rows.size());
  for (const Parts& one : Together(state, fold, lanes_of(rows[0]), bytes).run(std::move(parts)))
    for (std::size_t k = 0; k < one.rows.size(); ++k)
      if (one.rows[k] != nothing)
        result[static_cast<std::size_t>(one.rows[k])] =
            lanes_of(one.vector) == 1 ? one.vector : state.b.CreateExtractElement(one.vector, k);
  return result;
}

std::optional<std::size_t> fold_of_rows(const Kernel& kernel, const For& unrolled) {
  auto is_fold = [](const Statement& s) { return std::holds_alternative<FoldLanes>(s.node); };
  const auto at = std::ranges::find_if(unrolled.body, is_fold);
  if (unrolled.count < 2 || at == unrolled.body.end()) return {};
  const FoldLanes& fold = std::get<FoldLanes>(at->node);
  auto accumulator = [&](std::uint32_t slot) { return kernel.slots[slot].accumulator; };
  if (fold.from.size() != 1) return {};
  std::set<std::uint32_t> later{accumulator(fold.to[0])};
  for (auto after = at + 1; after != unrolled.body.end(); ++after) {
    if (const auto* assign = std::get_if<Assign>(&after->node))
      for (std::uint32_t slot : assign->slots) later.insert(accumulator(slot));
    else if (!std::holds_alternative<Store>(after->node)) return {};
  }
  if (later.contains(accumulator(fold.from[0]))) return {};
  for (auto before = unrolled.body.begin(); before != at; ++before) {
    const auto* assign = std::get_if<Assign>(&before->node);
    if (!assign) return {};
    for (ir::CellId id : reachable_from(kernel.exprs, assign->values)) {
      const ir::CellNode& node = kernel.exprs[id];
      if (node.op == ir::CellOp::read) return {};
      if (node.op == ir::CellOp::argument && later.contains(accumulator(node.attribute))) return {};
    }
  }
  return static_cast<std::size_t>(at - unrolled.body.begin());
}

}  // namespace tap::backend
