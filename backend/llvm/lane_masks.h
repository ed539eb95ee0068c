// Lane masks, made from bits where the target has mask registers: a few scalar instructions, which leave the vector
// units free.
#pragma once

#include <cstdint>

namespace llvm {
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace tap::backend {

// Lane k is active if first + k < end.
llvm::Value* lanes_before(llvm::IRBuilderBase& b, llvm::Value* first, llvm::Value* end, std::uint32_t lanes);
// The same, by a comparison of vectors: for targets without mask registers.
llvm::Value* compared_lanes_before(llvm::IRBuilderBase& b, llvm::Value* first, llvm::Value* end, std::uint32_t lanes);
// Lane k is active if 0 <= first + k < end.
llvm::Value* lanes_within(llvm::IRBuilderBase& b, llvm::Value* first, llvm::Value* end, std::uint32_t lanes);

}  // namespace tap::backend
