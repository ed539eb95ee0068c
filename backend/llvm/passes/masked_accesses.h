// Masked loads and stores of vectors, as the passes that rewrite them see both.
#pragma once

#include <vector>

namespace llvm {
struct Align;
class FixedVectorType;
class Function;
class IntrinsicInst;
class Value;
}  // namespace llvm

namespace tap::backend {

struct MaskedAccess {
  llvm::IntrinsicInst* call;
  llvm::FixedVectorType* type;  // of the loaded or stored vector
  bool stores;

  llvm::Value* address() const;
  llvm::Value* mask() const;
  llvm::Value* value() const;  // stored, or of idle lanes
  llvm::Align align() const;
};

std::vector<MaskedAccess> masked_accesses(llvm::Function& function);

}  // namespace tap::backend
