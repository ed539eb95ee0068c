#include "backend/llvm/passes/idle_lanes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "backend/llvm/passes/masked_accesses.h"

namespace tap::backend {
namespace {

constexpr std::uint64_t smallest_part = 16;  // bytes

// By lane, whether the mask is known to be false.
std::vector<bool> idle_lanes(llvm::Value* mask) {
  std::vector<bool> idle(llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements(), false);
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(mask)) {
    for (unsigned lane = 0; lane < idle.size(); ++lane) {
      auto* bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
      idle[lane] = bit && bit->isZero();
    }
    return idle;
  }
  llvm::Value *one = nullptr, *other = nullptr;
  using namespace llvm::PatternMatch;
  if (!match(mask, m_LogicalAnd(m_Value(one), m_Value(other)))) return idle;
  const std::vector<bool> a = idle_lanes(one), b = idle_lanes(other);
  for (std::size_t lane = 0; lane < idle.size(); ++lane) idle[lane] = a[lane] || b[lane];
  return idle;
}

class Splitter {
 public:
  explicit Splitter(const MaskedAccess& access)
      : access_(access),
        idle_(idle_lanes(access.mask())),
        b_(access.call),
        cell_(access.type->getElementType()),
        cell_bytes_(access.call->getDataLayout().getTypeStoreSize(cell_).getFixedValue()) {}

  bool is_needed() const { return has_idle_part(0, access_.type->getNumElements()); }
  void run() {
    llvm::Value* all = part(0, access_.type->getNumElements());
    if (!access_.stores) access_.call->replaceAllUsesWith(all);
    access_.call->eraseFromParent();
  }

 private:
  bool is_idle(unsigned first, unsigned count) const {
    return std::all_of(idle_.begin() + first, idle_.begin() + first + count, [](bool idle) { return idle; });
  }
  bool has_idle_part(unsigned first, unsigned count) const {
    if (is_idle(first, count)) return true;
    if (count % 2 != 0 || count / 2 * cell_bytes_ < smallest_part) return false;
    return has_idle_part(first, count / 2) || has_idle_part(first + count / 2, count / 2);
  }

  // Accesses these lanes; of a load, returns them.
  llvm::Value* part(unsigned first, unsigned count) {
    if (is_idle(first, count)) return access_.stores ? nullptr : lanes(access_.value(), first, count);
    if (!has_idle_part(first, count)) return accessed(first, count);
    llvm::Value* low = part(first, count / 2);
    llvm::Value* high = part(first + count / 2, count / 2);
    if (access_.stores) return nullptr;
    std::vector<int> both(count);
    std::iota(both.begin(), both.end(), 0);
    return b_.CreateShuffleVector(low, high, both);
  }

  llvm::Value* accessed(unsigned first, unsigned count) {
    llvm::Value* address = first == 0 ? access_.address() : b_.CreateConstGEP1_64(cell_, access_.address(), first);
    const llvm::Align align = llvm::commonAlignment(access_.align(), first * cell_bytes_);
    llvm::Value *mask = lanes(access_.mask(), first, count), *value = lanes(access_.value(), first, count);
    llvm::Instruction* made = nullptr;
    if (access_.stores) {
      made = b_.CreateMaskedStore(value, address, align, mask);
    } else {
      made = b_.CreateMaskedLoad(llvm::FixedVectorType::get(cell_, count), address, align, mask, value);
    }
    made->copyMetadata(*access_.call);
    return made;
  }

  llvm::Value* lanes(llvm::Value* vector, unsigned first, unsigned count) {
    if (count == access_.type->getNumElements()) return vector;
    std::vector<int> which(count);
    std::iota(which.begin(), which.end(), static_cast<int>(first));
    return b_.CreateShuffleVector(vector, which);
  }

  const MaskedAccess& access_;
  std::vector<bool> idle_;
  llvm::IRBuilder<> b_;
  llvm::Type* cell_;
  std::uint64_t cell_bytes_;
};

}  // namespace

void skip_idle_lanes(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (const MaskedAccess& access : masked_accesses(function))
      if (Splitter splitter(access); splitter.is_needed()) splitter.run();
}

}  // namespace tap::backend
