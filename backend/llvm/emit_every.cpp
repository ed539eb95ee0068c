#include "backend/llvm/emit_every.h"

#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <vector>

namespace tap::backend {

using llvm::Value;

Value* load_every(llvm::IRBuilderBase& b, std::uint32_t step, Value* address, llvm::Type* cell, std::uint32_t lanes,
                  const std::function<void(llvm::Instruction&)>& made) {
  auto* vector = llvm::FixedVectorType::get(cell, lanes);
  const llvm::Align align(cell->getPrimitiveSizeInBits().getFixedValue() / 8);
  const std::uint32_t last = (lanes - 1) * step + 1 - lanes;  // where the last vector begins
  Value* all = nullptr;
  for (std::uint32_t k = 0; k < step; ++k) {
    const std::uint32_t from = std::min(k * lanes, last);
    llvm::LoadInst* part = b.CreateAlignedLoad(vector, b.CreateConstInBoundsGEP1_64(cell, address, from), align);
    made(*part);
    std::vector<int> chosen;  // lanes of `all`, then of `part`
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t at = lane * step;
      const bool is_new = at >= k * lanes && at < from + lanes;
      chosen.push_back(static_cast<int>(is_new ? (k == 0 ? 0 : lanes) + at - from : k == 0 ? 0 : lane));
    }
    all = k == 0 ? b.CreateShuffleVector(part, chosen) : b.CreateShuffleVector(all, part, chosen);
  }
  return all;
}

}  // namespace tap::backend
