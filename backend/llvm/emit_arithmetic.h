// Cell operations as LLVM instructions, for one element type at a time. In registers f16 and bf16 are floats and bool
// is i1; loads and stores convert. Operations that cannot fail also take vectors.
#pragma once

#include <functional>
#include <vector>

#include "backend/abi.h"
#include "ir/cell.h"

namespace llvm {
class IRBuilderBase;
class LLVMContext;
class Type;
class Value;
}  // namespace llvm

namespace tap::backend {

// Leaves the kernel with this failure if the condition holds, and reports the offending value.
using FailIf = std::function<void(llvm::Value* condition, KernelFailure why, llvm::Value* value)>;

llvm::Type* register_type(llvm::LLVMContext& context, ElementType type);
llvm::Type* memory_type(llvm::LLVMContext& context, ElementType type);
// Conversions: from_memory after a load, to_memory before a store.
llvm::Value* from_memory(llvm::IRBuilderBase& b, llvm::Value* value, ElementType type);
llvm::Value* to_memory(llvm::IRBuilderBase& b, llvm::Value* value, ElementType type);

llvm::Value* emit_constant(llvm::LLVMContext& context, const ir::Scalar& value);
llvm::Value* emit_cast(llvm::IRBuilderBase& b, llvm::Value* value, ElementType from, ElementType to);
// Pre: `op` is strict (no leaf, cast or lazy operation); `type` is the operands' type; vector operations cannot fail.
// The builder may end in a different block: if the operation can fail, and for sin, cos and tan of huge numbers.
llvm::Value* emit_operation(llvm::IRBuilderBase& b, ir::CellOp op, ElementType type,
                            const std::vector<llvm::Value*>& args, const FailIf& fail_if);

}  // namespace tap::backend
