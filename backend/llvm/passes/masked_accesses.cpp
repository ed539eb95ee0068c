#include "backend/llvm/passes/masked_accesses.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace tap::backend {

llvm::Value* MaskedAccess::address() const { return call->getArgOperand(stores ? 1 : 0); }
llvm::Value* MaskedAccess::mask() const { return call->getArgOperand(stores ? 2 : 1); }
llvm::Value* MaskedAccess::value() const { return call->getArgOperand(stores ? 0 : 2); }
llvm::Align MaskedAccess::align() const { return call->getParamAlign(stores ? 1 : 0).valueOrOne(); }

std::vector<MaskedAccess> masked_accesses(llvm::Function& function) {
  std::vector<MaskedAccess> found;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!call) continue;
    const bool stores = call->getIntrinsicID() == llvm::Intrinsic::masked_store;
    if (!stores && call->getIntrinsicID() != llvm::Intrinsic::masked_load) continue;
    auto* type = llvm::cast<llvm::FixedVectorType>(stores ? call->getArgOperand(0)->getType() : call->getType());
    found.push_back({call, type, stores});
  }
  return found;
}

}  // namespace tap::backend
