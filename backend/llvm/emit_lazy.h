// Emits the cells of one point, with branches for lazy operands.
#pragma once

#include "backend/llvm/emit_state.h"

namespace tap::backend {

// Evaluates the cells of one statement at the current point, each once (see cell_placement.h). Use one object per
// statement.
class LazyCells {
 public:
  LazyCells(EmitState& state, const std::vector<ir::CellId>& roots);
  llvm::Value* operator()(ir::CellId id);  // for a root

 private:
  struct Tried {
    llvm::Value* value;
    llvm::Value* has_failed;
    EmitState::Failure failure;
  };
  struct Scope {
    llvm::BasicBlock* end = nullptr;  // where code continues after the scope
    EmitState::Attempt* attempt = nullptr;
    std::unordered_map<ir::CellId, llvm::Value*> known = {};
    std::unordered_map<ir::CellId, Tried> tried = {};  // in this scope: users raise the failure
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
  void continue_in_block();

  EmitState& s_;
  CellPlacement placement_;
  std::vector<Scope> scopes_;  // inner scopes are branches and attempts; their values are not visible outside
};

}  // namespace tap::backend
