#include "backend/llvm/emit_non_temporal.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>

#include "backend/llvm/emit_arithmetic.h"

namespace tap::backend {

using llvm::Value;

void store_vector(EmitState& s, Value* vector, Value* address, std::uint32_t tensor) {
  constexpr std::uint64_t line = ir::reference_machine.line_bytes;
  auto& b = s.b;
  const llvm::Align cell(size_of(s.kernel.tensors[tensor].type.element));
  auto store = [&](llvm::Align align) {
    llvm::StoreInst* stored = b.CreateAlignedStore(vector, address, align);
    s.mark_no_alias(*stored, tensor);
    return stored;
  };
  const std::uint64_t bytes = s.function->getDataLayout().getTypeStoreSize(vector->getType()).getFixedValue();
  if (!s.non_temporal_stores || !s.kernel.tensors[tensor].non_temporal || bytes != line) {
    store(cell);
    return;
  }
  llvm::BasicBlock *past = s.new_block("past"), *near = s.new_block("near"), *done = s.new_block("stored");
  Value* within = b.CreateAnd(b.CreatePtrToInt(address, b.getInt64Ty()), b.getInt64(line - 1));
  b.CreateCondBr(b.CreateICmpEQ(within, b.getInt64(0)), past, near);
  b.SetInsertPoint(past);
  store(llvm::Align(line))
      ->setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(b.getContext(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
  b.CreateBr(done);
  b.SetInsertPoint(near);
  store(cell);
  b.CreateBr(done);
  b.SetInsertPoint(done);
}

void order_non_temporal_stores(EmitState& s) {
  const bool any = std::ranges::any_of(s.kernel.tensors, [](const TensorArgument& t) { return t.non_temporal; });
  if (s.non_temporal_stores && any) s.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, llvm::ArrayRef<Value*>());
}

}  // namespace tap::backend
