// Traverses an expression to find every indexed tensor, and gives each reduction and each `let` a scope. It runs
// before elaboration, because ranges follow from all reads of an equation together.
#pragma once

#include "compiler/frontend/cells/index_space.h"

namespace tap {

class IndexWalker {
 public:
  // Elaboration recurses over expressions; deeper ones are rejected.
  static constexpr int max_depth = 1000;

  explicit IndexWalker(IndexSpace& space) : space_(space) {}
  void walk(const Env& env, ast::ExprId id, int depth);

 private:
  void of(const Env& env, ast::ExprId id, const ast::Index& index, int depth);
  void of(const Env& env, ast::ExprId id, const ast::Reduce& reduce, int depth);
  void of(const Env& env, ast::ExprId id, const ast::Let& let, int depth);

  IndexSpace& space_;
};

}  // namespace tap
