// What the emission of one kernel keeps while it goes: where the tensors, the box and the variables are. Shared by the
// parts that emit statements (emit_llvm.cpp) and cells (emit_cell.cpp).
#pragma once

#include <unordered_map>
#include <vector>

#include "backend/emit_arithmetic.h"
#include "backend/loops.h"

namespace llvm {
class BasicBlock;
class Function;
class MDNode;
}  // namespace llvm

namespace tap::backend {

struct EmitState {
  const Kernel& kernel;
  llvm::IRBuilderBase& b;
  llvm::Function* function = nullptr;
  llvm::Value* error = nullptr;
  std::vector<llvm::Value*> variables;             // null where not in scope
  std::vector<llvm::Value*> accumulators;          // addresses
  std::vector<llvm::Value*> bases;                 // of tensors
  std::vector<std::vector<llvm::Value*>> strides;  // of tensors, per axis
  std::vector<llvm::MDNode*> scope;                // of tensors: what its accesses belong to …
  std::vector<llvm::MDNode*> elsewhere;            // … and what they cannot touch

  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* affine(const ir::AffineExpr& e);
  llvm::Value* address(std::uint32_t tensor, const std::vector<llvm::Value*>& at);
  llvm::Value* load(std::uint32_t tensor, const std::vector<llvm::Value*>& at);
  void store(std::uint32_t tensor, const std::vector<llvm::Value*>& at, llvm::Value* value);
  // Leaves the kernel where the condition holds, with the current point in *error.
  struct Where {
    std::uint32_t tensor = 0;
    std::size_t axis = 0;
    llvm::Value* value;
  };
  void fail_if(llvm::Value* condition, KernelFailure why, const Where& where);
};

// Evaluates cells at the current point. Values are shared within one statement: make one per statement.
class CellEmitter {
 public:
  explicit CellEmitter(EmitState& state);
  llvm::Value* operator()(ir::CellId id);

 private:
  using Known = std::unordered_map<ir::CellId, llvm::Value*>;

  llvm::Value* compute(ir::CellId id);
  llvm::Value* read(const Load& load);
  llvm::Value* select(const ir::CellNode& node);
  llvm::Value* logical(const ir::CellNode& node);
  bool harmless(ir::CellId id);  // may be evaluated where the program would not
  bool harmless_here(const ir::CellNode& node);
  void needed(ir::CellId id, std::vector<bool>& seen, std::vector<ir::CellId>& order);
  template <class Then, class Else>
  llvm::Value* branch(llvm::Value* condition, llvm::Type* type, Then then_value, Else else_value);

  EmitState& s_;
  std::vector<Known> scopes_;          // inner scopes are branches; what they compute is not known outside
  std::vector<signed char> harmless_;  // by cell; -1: not asked yet
};

}  // namespace tap::backend
