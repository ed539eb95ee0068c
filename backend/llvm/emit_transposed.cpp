#include "backend/llvm/emit_transposed.h"

#include <llvm/IR/IRBuilder.h>

#include <bit>

#include "backend/llvm/emit_every.h"

namespace tap::backend {

namespace {

template <class Node>
const Node* only(const std::vector<Statement>& body) {
  return body.size() == 1 ? std::get_if<Node>(&body[0].node) : nullptr;
}

std::int64_t coefficient(const ir::AffineExpr& e, std::uint32_t variable) {
  return variable < e.coefficients.size() ? e.coefficients[variable] : 0;
}

// Whether consecutive cells in the last axis are contiguous in memory.
bool is_dense(const EmitState& s, const Store::Target& target) {
  auto* stride = llvm::dyn_cast<llvm::ConstantInt>(s.strides[target.tensor][target.at.size() - 1]);
  return stride && stride->isOne();
}

}  // namespace

StoredAcross stored_across(const EmitState& s, const For& unrolled) {
  constexpr std::uint32_t fewest = 4;
  const For* lanes = unrolled.kind == LoopKind::unrolled ? only<For>(unrolled.body) : nullptr;
  if (!lanes || lanes->kind != LoopKind::lanes || !std::has_single_bit(lanes->count)) return {};
  const Store* store = only<Store>(lanes->body);
  if (!store || store->targets.size() != 1 || unrolled.count < 2 || lanes->count < fewest) return {};
  // All passes must start their vectors at the same place.
  for (const auto* bounds : {&lanes->lower, &lanes->upper})
    for (const Bound& bound : *bounds)
      if (coefficient(bound.expr, unrolled.variable) != 0) return {};
  const Store::Target& target = store->targets[0];
  bool moves = false;
  for (std::size_t axis = 0; axis < target.at.size(); ++axis) {
    const bool last = axis + 1 == target.at.size();
    if (coefficient(target.at[axis], unrolled.variable) != (last ? 1 : 0)) return {};
    const std::int64_t along = coefficient(target.at[axis], lanes->variable);
    if (last && along != 0) return {};
    moves = moves || along != 0;
  }
  if (!moves || !is_dense(s, target)) return {};
  const auto step = step_between_lanes(s, target, lanes->variable, lanes->count);
  return step || unrolled.count >= fewest ? StoredAcross{lanes, &target, step} : StoredAcross{};
}

// Exchanges blocks of 1 cell with those across, then blocks of 2, of 4 and so on.
void transpose(llvm::IRBuilderBase& b, std::vector<llvm::Value*>& vectors) {
  const std::size_t count = vectors.size();
  for (std::size_t size = 1; size < count; size *= 2) {
    std::vector<int> low(count), high(count);
    for (std::size_t k = 0; k < count; ++k) {
      const bool second = (k & size) != 0;
      low[k] = static_cast<int>(second ? count + k - size : k);
      high[k] = static_cast<int>(second ? count + k : k + size);
    }
    for (std::size_t k = 0; k < count; ++k) {
      if ((k & size) != 0) continue;
      llvm::Value *first = vectors[k], *second = vectors[k + size];
      vectors[k] = b.CreateShuffleVector(first, second, low);
      vectors[k + size] = b.CreateShuffleVector(first, second, high);
    }
  }
}

}  // namespace tap::backend
