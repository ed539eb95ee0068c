#include "backend/llvm/emit_leading.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <numeric>
#include <vector>

#include "backend/llvm/emit_non_temporal.h"
#include "backend/llvm/emit_straight.h"

namespace tap::backend {

using llvm::Value;

namespace {

class LeadingLanes {
 public:
  LeadingLanes(EmitState& s, Value* vector, Value* address, std::uint32_t tensor)
      : b_(s.b), s_(s), tensor_(tensor), rest_(vector), address_(address) {
    cell_ = llvm::cast<llvm::VectorType>(vector->getType())->getElementType();
    cell_bytes_ = s.function->getDataLayout().getTypeStoreSize(cell_).getFixedValue();
  }

  void store(Value* active) {
    const std::uint32_t lanes = lanes_of(rest_);
    llvm::BasicBlock *whole = s_.new_block("whole"), *in_parts = s_.new_block("parts"), *done = s_.new_block("stored");
    b_.CreateCondBr(b_.CreateICmpSGE(active, b_.getInt64(lanes)), whole, in_parts);
    b_.SetInsertPoint(whole);
    store_vector(s_, rest_, address_, tensor_);
    b_.CreateBr(done);
    b_.SetInsertPoint(in_parts);
    active = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, active, b_.getInt64(0));
    for (std::uint32_t width = lanes / 2; width >= 1; width /= 2) part(width, active);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }

  void store(std::uint32_t active) {
    std::uint32_t width = lanes_of(rest_);
    while (active > 0) {
      if (active >= width) {
        store_here(lanes(0, width));
        active -= width;
        if (active > 0) advance(width);
      }
      width /= 2;
    }
  }

 private:
  Value* lanes(std::uint32_t first, std::uint32_t count) {
    if (count == lanes_of(rest_)) return rest_;
    std::vector<int> which(count);
    std::iota(which.begin(), which.end(), static_cast<int>(first));
    return b_.CreateShuffleVector(rest_, which);
  }
  void advance(std::uint32_t width) {
    rest_ = lanes(width, lanes_of(rest_) - width);
    address_ = b_.CreateConstGEP1_64(cell_, address_, width);
  }
  void store_here(Value* vector) {
    s_.mark_no_alias(*b_.CreateAlignedStore(vector, address_, llvm::Align(cell_bytes_)), tensor_);
  }

  // Stores `width` lanes if that bit of the number is set. Then at most as many remain.
  void part(std::uint32_t width, Value* active) {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *stores = s_.new_block("part"), *next = s_.new_block("next");
    Value *low = lanes(0, width), *high = lanes(width, width), *address = address_;
    b_.CreateCondBr(b_.CreateICmpNE(b_.CreateAnd(active, b_.getInt64(width)), b_.getInt64(0)), stores, next);
    b_.SetInsertPoint(stores);
    store_here(low);
    Value* beyond = b_.CreateConstGEP1_64(cell_, address, width);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    if (width == 1) return;
    rest_ = merged(low, before, high, stores);
    address_ = merged(address, before, beyond, stores);
  }
  Value* merged(Value* one, llvm::BasicBlock* from_one, Value* other, llvm::BasicBlock* from_other) {
    auto* phi = b_.CreatePHI(one->getType(), 2);
    phi->addIncoming(one, from_one);
    phi->addIncoming(other, from_other);
    return phi;
  }

  llvm::IRBuilderBase& b_;
  EmitState& s_;
  std::uint32_t tensor_;
  Value *rest_, *address_;  // what is not stored yet
  llvm::Type* cell_;
  std::uint64_t cell_bytes_;
};

}  // namespace

void store_leading(EmitState& s, Value* vector, Value* address, Value* active, std::uint32_t tensor) {
  LeadingLanes(s, vector, address, tensor).store(active);
}

void store_leading(EmitState& s, Value* vector, Value* address, std::uint32_t active, std::uint32_t tensor) {
  LeadingLanes(s, vector, address, tensor).store(active);
}

}  // namespace tap::backend
