#include "backend/llvm/passes/exact_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <numeric>
#include <vector>

namespace tap::backend {
namespace {

namespace Intrinsic = llvm::Intrinsic;

// The operands of a masked store or scatter: (value, addresses, mask).
struct MaskedWrite {
  llvm::IntrinsicInst* call;
  llvm::Value *value, *address;
  llvm::Constant* mask;
  bool scatters;
};

bool is_set(const llvm::Constant& mask, unsigned lane) {
  auto* bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask.getAggregateElement(lane));
  return bit && bit->isOne();
}

// Of lanes that are set.
unsigned runs(const llvm::Constant& mask) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask.getType())->getNumElements();
  unsigned count = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) count += is_set(mask, lane) && (lane == 0 || !is_set(mask, lane - 1));
  return count;
}

std::vector<MaskedWrite> writes_under_constant_masks(llvm::Function& function) {
  std::vector<MaskedWrite> found;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!call) continue;
    const bool scatters = call->getIntrinsicID() == Intrinsic::masked_scatter;
    if (!scatters && call->getIntrinsicID() != Intrinsic::masked_store) continue;
    auto* mask = llvm::dyn_cast<llvm::Constant>(call->getArgOperand(2));
    if (mask && (scatters || runs(*mask) <= 1))
      found.push_back({call, call->getArgOperand(0), call->getArgOperand(1), mask, scatters});
  }
  return found;
}

class ExactWrite {
 public:
  explicit ExactWrite(const MaskedWrite& write)
      : write_(write),
        b_(write.call),
        cell_(write.value->getType()->getScalarType()),
        cell_bytes_(write.call->getDataLayout().getTypeStoreSize(cell_).getFixedValue()),
        align_(write.call->getParamAlign(1).valueOrOne()) {}

  void run() {
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(write_.value->getType())->getNumElements();
    for (unsigned lane = 0; lane < lanes;) {
      unsigned end = lane;
      while (end < lanes && is_set(*write_.mask, end)) ++end;
      for (; lane < end; lane += store(lane, write_.scatters ? 1 : std::bit_floor(end - lane))) {}
      if (lane == end) ++lane;
    }
    write_.call->eraseFromParent();
  }

 private:
  // Stores this many lanes, starting at `lane`.
  unsigned store(unsigned lane, unsigned count) {
    llvm::Value* part = count == 1 ? b_.CreateExtractElement(write_.value, lane) : lanes_of(lane, count);
    llvm::Value* address = write_.scatters ? b_.CreateExtractElement(write_.address, lane)
                           : lane == 0     ? write_.address
                                           : b_.CreateConstGEP1_64(cell_, write_.address, lane);
    llvm::Align align = write_.scatters ? align_ : llvm::commonAlignment(align_, lane * cell_bytes_);
    b_.CreateAlignedStore(part, address, align)->copyMetadata(*write_.call);
    return count;
  }
  llvm::Value* lanes_of(unsigned lane, unsigned count) {
    std::vector<int> which(count);
    std::iota(which.begin(), which.end(), static_cast<int>(lane));
    return b_.CreateShuffleVector(write_.value, which);
  }

  const MaskedWrite& write_;
  llvm::IRBuilder<> b_;
  llvm::Type* cell_;
  std::uint64_t cell_bytes_;
  llvm::Align align_;
};

}  // namespace

void make_masks_exact(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (const MaskedWrite& write : writes_under_constant_masks(function)) ExactWrite(write).run();
}

}  // namespace tap::backend
