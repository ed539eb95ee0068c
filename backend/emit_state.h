// What the emission of one kernel keeps while it goes: where the tensors, the box and the variables are. Shared by the
// parts that emit statements (emit_llvm.cpp) and cells (emit_cell.cpp).
#pragma once

#include <array>
#include <functional>
#include <unordered_map>
#include <vector>

#include "backend/cell_places.h"
#include "backend/emit_arithmetic.h"
#include "backend/loops.h"

namespace llvm {
class BasicBlock;
class Function;
class MDNode;
class PHINode;
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
  // Leaves the kernel where the condition holds, with the current point in *error; or just what is tried.
  struct Where {
    std::uint32_t tensor = 0;
    std::size_t axis = 0;
    llvm::Value* value;
  };
  void fail_if(llvm::Value* condition, KernelFailure why, const Where& where);

  using Failure = std::array<llvm::Value*, 4>;  // why, tensor, axis, value
  void fail_if(llvm::Value* condition, const Failure& failure);
  struct Attempt {
    llvm::BasicBlock* failed = nullptr;
    std::array<llvm::PHINode*, 4> failure = {};
  };
  void leave(const Failure& failure);
  Attempt* attempt = nullptr;  // what is being tried; null where a failure leaves the kernel
};

// Evaluates the cells of one statement at the current point, each once (see cell_places.h): make one per statement.
class CellEmitter {
 public:
  CellEmitter(EmitState& state, const std::vector<ir::CellId>& roots);
  llvm::Value* operator()(ir::CellId id);  // of one of the roots

 private:
  struct Tried {
    llvm::Value* value;
    llvm::Value* has_failed;
    EmitState::Failure failure;
  };
  struct Scope {
    llvm::BasicBlock* end = nullptr;  // where it goes on once what it holds is emitted
    EmitState::Attempt* attempt = nullptr;
    std::unordered_map<ir::CellId, llvm::Value*> known = {};
    std::unordered_map<ir::CellId, Tried> tried = {};  // here: whoever uses one fails where it failed
  };
  struct Emitted {
    llvm::Value* value;
    llvm::BasicBlock* end;
  };
  using Emit = std::function<llvm::Value*()>;

  llvm::Value* find(ir::CellId id);
  void emit_at(std::size_t depth, ir::CellId id);
  void attempt(ir::CellId id);
  llvm::Value* compute(ir::CellId id);
  llvm::Value* read(const Load& load);
  llvm::Value* select(const ir::CellNode& node);
  llvm::Value* logical(const ir::CellNode& node);
  llvm::Value* branch(llvm::Value* condition, llvm::Type* type, const Emit& then_value, const Emit& else_value);
  Emitted inside(llvm::BasicBlock* first, EmitState::Attempt* attempt, const Emit& emit);
  void go_on();

  EmitState& s_;
  CellPlaces places_;
  std::vector<Scope> scopes_;  // inner scopes are branches and attempts; what they compute is not known outside
};

}  // namespace tap::backend
