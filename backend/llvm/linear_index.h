// An index as a sum of values with constant factors and a constant:
//
//   ((i + 3) * 4096 + (j + 1)) * 1     terms 4096 i, 1 j     constant 12289
//
// Why: the accesses of unrolled loops differ in the constant only. Where it stands apart, it is part of the instruction, and the
// terms are computed once; else there is a pointer for each row, more than there are registers. Terms of inner loops are added last,
// so that the sum of the others leaves the loop.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace llvm {
class IRBuilderBase;
class Type;
class Value;
}  // namespace llvm

namespace tap::backend {

class LinearIndex {
 public:
  void add(llvm::Value* value, std::int64_t factor);  // wraps, as the instructions that are emitted do
  llvm::Value* emit_address(llvm::IRBuilderBase& b, llvm::Type* cell, llvm::Value* base) const;

 private:
  std::vector<std::pair<llvm::Value*, std::uint64_t>> terms_;  // in order of appearance
  std::uint64_t constant_ = 0;
};

}  // namespace tap::backend
