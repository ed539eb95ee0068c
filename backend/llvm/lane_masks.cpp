#include "backend/llvm/lane_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/check.h"

namespace tap::backend {

using llvm::Value;

namespace {

constexpr std::uint32_t most_lanes = 64;

Value* clamped(llvm::IRBuilderBase& b, Value* number, std::uint32_t most) {
  number = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, number, b.getInt64(0));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, b.getInt64(most));
}

// A number whose `number` lowest bits are set. A shift by 64 is undefined.
Value* low_bits(llvm::IRBuilderBase& b, Value* number, std::uint32_t lanes) {
  if (lanes < most_lanes) return b.CreateNot(b.CreateShl(b.getInt64(~std::uint64_t{0}), number));
  Value* bits = b.CreateLShr(b.getInt64(~std::uint64_t{0}), b.CreateSub(b.getInt64(most_lanes), number));
  return b.CreateSelect(b.CreateICmpEQ(number, b.getInt64(0)), b.getInt64(0), bits);
}

// Masks of fewer than 8 lanes are the start of one with 8: targets have no smaller masks.
Value* as_lanes(llvm::IRBuilderBase& b, Value* bits, std::uint32_t lanes) {
  std::uint32_t wide = std::max(lanes, 8u);
  Value* all = b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(wide)), llvm::FixedVectorType::get(b.getInt1Ty(), wide));
  if (wide == lanes) return all;
  std::vector<int> which(lanes);
  std::iota(which.begin(), which.end(), 0);
  return b.CreateShuffleVector(all, which);
}

Value* number_before(llvm::IRBuilderBase& b, Value* first, Value* end, std::uint32_t lanes) {
  return clamped(b, b.CreateNSWSub(end, first), lanes);
}

Value* bits_before(llvm::IRBuilderBase& b, Value* first, Value* end, std::uint32_t lanes) {
  TAP_CHECK(lanes <= most_lanes, "a vector has more lanes than a mask has bits");
  return low_bits(b, number_before(b, first, end, lanes), lanes);
}

}  // namespace

Value* lanes_before(llvm::IRBuilderBase& b, Value* first, Value* end, std::uint32_t lanes) {
  return as_lanes(b, bits_before(b, first, end, lanes), lanes);
}

Value* compared_lanes_before(llvm::IRBuilderBase& b, Value* first, Value* end, std::uint32_t lanes) {
  Value* active = b.CreateTrunc(number_before(b, first, end, lanes), b.getInt32Ty());
  std::vector<std::uint32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0u);
  return b.CreateICmpSGT(b.CreateVectorSplat(lanes, active), llvm::ConstantDataVector::get(b.getContext(), numbers));
}

Value* lanes_within(llvm::IRBuilderBase& b, Value* first, Value* end, std::uint32_t lanes) {
  Value* before = bits_before(b, first, b.getInt64(0), lanes);
  return as_lanes(b, b.CreateAnd(bits_before(b, first, end, lanes), b.CreateNot(before)), lanes);
}

}  // namespace tap::backend
