#include "backend/llvm/loop_forms.h"

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <variant>

namespace tap::backend {
namespace {

// On a vector or on a number each; 0 if the body is not one step of a tile.
std::uint32_t operations_at_once(const std::vector<Statement>& body) {
  std::uint32_t all = 0;
  for (const Statement& statement : body) {
    const auto* loop = std::get_if<For>(&statement.node);
    if (loop && loop->kind == LoopKind::serial) return 0;
    if (loop) all += operations_at_once(loop->body) * (loop->kind == LoopKind::unrolled ? loop->count : 1);
    all += std::holds_alternative<Assign>(statement.node);
  }
  return all;
}

}  // namespace

bool is_over_vectors(const For& loop) {
  if (loop.descending || loop.body.size() != 1) return false;
  const auto* vector = std::get_if<For>(&loop.body[0].node);
  return vector && vector->kind == LoopKind::lanes && vector->count == loop.step && !vector->upper.empty() &&
         vector->upper == loop.upper && vector->lower.size() == 1 && vector->lower[0].divisor == 1 &&
         vector->lower[0].expr == ir::AffineExpr::variable(vector->lower[0].expr.coefficients.size(), loop.variable) &&
         std::ranges::all_of(loop.upper, [](const Bound& bound) { return bound.divisor == 1; });
}

bool is_step_of_full_tile(const std::vector<Statement>& body) {
  constexpr std::uint32_t fewest = 6;
  return operations_at_once(body) >= fewest;
}

bool stores_lane_by_lane(const llvm::BasicBlock& body) {
  return std::ranges::any_of(body, [](const llvm::Instruction& instruction) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == llvm::Intrinsic::masked_scatter;
  });
}

void forbid_unrolling(llvm::Instruction& branch) {
  llvm::LLVMContext& context = branch.getContext();
  llvm::MDNode* off = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, off});
  loop->replaceOperandWith(0, loop);
  branch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace tap::backend
