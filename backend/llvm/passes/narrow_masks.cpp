#include "backend/llvm/passes/narrow_masks.h"

#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <numeric>
#include <vector>

#include "backend/llvm/passes/masked_accesses.h"

namespace tap::backend {
namespace {

constexpr unsigned smallest_vector = 16;  // bytes of the smallest vector register of AVX-512

// 0 if the access is wide enough.
unsigned wide_lanes(const MaskedAccess& access) {
  const llvm::DataLayout& layout = access.call->getDataLayout();
  const std::uint64_t cell = layout.getTypeStoreSize(access.type->getElementType()).getFixedValue();
  return cell * access.type->getNumElements() < smallest_vector ? static_cast<unsigned>(smallest_vector / cell) : 0;
}

class WideAccess {
 public:
  WideAccess(const MaskedAccess& narrow, unsigned lanes) : narrow_(narrow), wide_lanes_(lanes), b_(narrow.call) {}

  void run() {
    llvm::IntrinsicInst& call = *narrow_.call;
    llvm::Instruction* wide = nullptr;
    if (narrow_.stores) {
      wide =
          b_.CreateMaskedStore(widened(narrow_.value()), narrow_.address(), narrow_.align(), wide_mask(narrow_.mask()));
    } else {
      auto* type = llvm::FixedVectorType::get(narrow_.type->getElementType(), wide_lanes_);
      wide = b_.CreateMaskedLoad(type, narrow_.address(), narrow_.align(), wide_mask(narrow_.mask()),
                                 widened(narrow_.value()));
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
  llvm::Value* widened(llvm::Value* vector) { return lanes(vector, wide_lanes_); }

  // The empty assembly hides the origin of the integer from LLVM.
  llvm::Value* wide_mask(llvm::Value* mask) {
    llvm::Value* bits =
        b_.CreateZExt(b_.CreateBitCast(mask, b_.getIntNTy(narrow_.type->getNumElements())), b_.getInt32Ty());
    auto* hidden = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getInt32Ty()}, false);
    bits = b_.CreateCall(hidden, llvm::InlineAsm::get(hidden, "", "=r,0", false), {bits});
    return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(wide_lanes_)),
                            llvm::FixedVectorType::get(b_.getInt1Ty(), wide_lanes_));
  }

  const MaskedAccess& narrow_;
  unsigned wide_lanes_;
  llvm::IRBuilder<> b_;
};

}  // namespace

void widen_narrow_masks(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;  // other targets do not know the feature's name
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !machine.getSubtargetImpl(function)->checkFeatures("+avx512bw")) continue;
    for (const MaskedAccess& access : masked_accesses(function))
      if (const unsigned lanes = wide_lanes(access)) WideAccess(access, lanes).run();
  }
}

}  // namespace tap::backend
