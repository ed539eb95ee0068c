#include "backend/llvm/narrow_masks.h"

#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <numeric>
#include <vector>

namespace tap::backend {
namespace {

namespace Intrinsic = llvm::Intrinsic;

constexpr unsigned smallest_vector = 16;  // bytes of the smallest vector register of AVX-512

struct NarrowAccess {
  llvm::IntrinsicInst* call;
  llvm::FixedVectorType* type;  // of the loaded or stored vector
  bool stores;
  unsigned wide_lanes;
};

std::vector<NarrowAccess> narrow_accesses(llvm::Function& function) {
  std::vector<NarrowAccess> found;
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::Instruction& i : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!call) continue;
    const bool stores = call->getIntrinsicID() == Intrinsic::masked_store;
    if (!stores && call->getIntrinsicID() != Intrinsic::masked_load) continue;
    auto* type = llvm::cast<llvm::FixedVectorType>(stores ? call->getArgOperand(0)->getType() : call->getType());
    const std::uint64_t cell = layout.getTypeStoreSize(type->getElementType()).getFixedValue();
    if (cell * type->getNumElements() < smallest_vector)
      found.push_back({call, type, stores, static_cast<unsigned>(smallest_vector / cell)});
  }
  return found;
}

class WideAccess {
 public:
  explicit WideAccess(const NarrowAccess& narrow) : narrow_(narrow), b_(narrow.call) {}

  void run() {
    llvm::IntrinsicInst& call = *narrow_.call;
    llvm::Instruction* wide = nullptr;
    if (narrow_.stores) {
      wide = b_.CreateMaskedStore(widened(call.getArgOperand(0)), call.getArgOperand(1),
                                  call.getParamAlign(1).valueOrOne(), wide_mask(call.getArgOperand(2)));
    } else {
      auto* type = llvm::FixedVectorType::get(narrow_.type->getElementType(), narrow_.wide_lanes);
      wide = b_.CreateMaskedLoad(type, call.getArgOperand(0), call.getParamAlign(0).valueOrOne(),
                                 wide_mask(call.getArgOperand(1)), widened(call.getArgOperand(2)));
      call.replaceAllUsesWith(lanes(wide, narrow_.type->getNumElements()));
    }
    wide->copyMetadata(call);
    call.eraseFromParent();
  }

 private:
  llvm::Value* lanes(llvm::Value* vector, unsigned count) {
    std::vector<int> which(count, llvm::PoisonMaskElem);
    const unsigned width = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
    std::iota(which.begin(), which.begin() + std::min(width, count), 0);
    return b_.CreateShuffleVector(vector, which);
  }
  llvm::Value* widened(llvm::Value* vector) { return lanes(vector, narrow_.wide_lanes); }

  // The empty assembly hides the origin of the integer from LLVM.
  llvm::Value* wide_mask(llvm::Value* mask) {
    llvm::Value* bits =
        b_.CreateZExt(b_.CreateBitCast(mask, b_.getIntNTy(narrow_.type->getNumElements())), b_.getInt32Ty());
    auto* hidden = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getInt32Ty()}, false);
    bits = b_.CreateCall(hidden, llvm::InlineAsm::get(hidden, "", "=r,0", false), {bits});
    return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(narrow_.wide_lanes)),
                            llvm::FixedVectorType::get(b_.getInt1Ty(), narrow_.wide_lanes));
  }

  const NarrowAccess& narrow_;
  llvm::IRBuilder<> b_;
};

}  // namespace

void widen_narrow_masks(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;  // other targets do not know the feature's name
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !machine.getSubtargetImpl(function)->checkFeatures("+avx512bw")) continue;
    for (const NarrowAccess& narrow : narrow_accesses(function)) WideAccess(narrow).run();
  }
}

}  // namespace tap::backend
