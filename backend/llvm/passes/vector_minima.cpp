#include "backend/llvm/passes/vector_minima.h"

#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <optional>
#include <vector>

namespace tap::backend {
namespace {

namespace Intrinsic = llvm::Intrinsic;

// The instruction for vectors of 16, 32 and 64 bytes.
std::optional<Intrinsic::ID> range_of(const llvm::FixedVectorType& type) {
  constexpr std::array<Intrinsic::ID, 3> floats{Intrinsic::x86_avx512_mask_range_ps_128,
                                                Intrinsic::x86_avx512_mask_range_ps_256,
                                                Intrinsic::x86_avx512_mask_range_ps_512};
  constexpr std::array<Intrinsic::ID, 3> doubles{Intrinsic::x86_avx512_mask_range_pd_128,
                                                 Intrinsic::x86_avx512_mask_range_pd_256,
                                                 Intrinsic::x86_avx512_mask_range_pd_512};
  const llvm::Type* cell = type.getElementType();
  if (!cell->isFloatTy() && !cell->isDoubleTy()) return {};
  const unsigned bits = type.getNumElements() * type.getScalarSizeInBits();
  for (unsigned size = 0; size < floats.size(); ++size)
    if (bits == 128u << size) return cell->isFloatTy() ? floats[size] : doubles[size];
  return {};
}

void shorten(llvm::IntrinsicInst& call, Intrinsic::ID range) {
  constexpr int least = 4, greatest = 5;  // with the sign of the operand that it is
  constexpr int current_rounding = 4;
  llvm::IRBuilder<> b(&call);
  b.setFastMathFlags({});
  llvm::Value *x = call.getArgOperand(0), *y = call.getArgOperand(1);
  auto* type = llvm::cast<llvm::FixedVectorType>(call.getType());
  const unsigned lanes = type->getNumElements();
  llvm::Type* mask = b.getIntNTy(std::max(lanes, 8u));
  std::vector<llvm::Value*> arguments{x, y, b.getInt32(call.getIntrinsicID() == Intrinsic::minimum ? least : greatest),
                                      llvm::PoisonValue::get(type), llvm::Constant::getAllOnesValue(mask)};
  if (lanes * type->getScalarSizeInBits() == 512) arguments.push_back(b.getInt32(current_rounding));
  llvm::Value* unordered = b.CreateFCmpUNO(x, y);  // first, so that an accumulator is replaced at its last use
  llvm::Value* ordered = b.CreateIntrinsic(type, range, arguments);
  call.replaceAllUsesWith(b.CreateSelect(unordered, llvm::ConstantFP::getNaN(type), ordered));
  call.eraseFromParent();
}

}  // namespace

void shorten_minima(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return;
  std::vector<std::pair<llvm::IntrinsicInst*, Intrinsic::ID>> found;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const auto* target = machine.getSubtargetImpl(function);
    if (!target->checkFeatures("+avx512dq,+avx512vl")) continue;
    for (llvm::Instruction& i : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
      if (!call || (call->getIntrinsicID() != Intrinsic::minimum && call->getIntrinsicID() != Intrinsic::maximum))
        continue;
      if (llvm::isa<llvm::Constant>(call->getArgOperand(0)) || llvm::isa<llvm::Constant>(call->getArgOperand(1)))
        continue;
      if (const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(call->getType()))
        if (const auto range = range_of(*type)) found.emplace_back(call, *range);
    }
  }
  for (auto [call, range] : found) shorten(*call, range);
}

}  // namespace tap::backend
