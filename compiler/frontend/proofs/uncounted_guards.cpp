#include "compiler/frontend/proofs/uncounted_guards.h"

#include <algorithm>

namespace tap {
namespace {

class Guards {
 public:
  Guards(const ast::Module& module, Span read, const std::vector<std::string>& variables)
      : module_(module), read_(read), variables_(variables) {}

  std::vector<Span> find() {
    for (const ast::Expr& expr : module_.exprs) {
      if (auto* choice = std::get_if<ast::If>(&expr.node)) {
        if (holds_read(choice->then_value) || holds_read(choice->else_value)) add(choice->condition);
      } else if (auto* both = std::get_if<ast::Binary>(&expr.node); both && is_connective(both->op)) {
        if (holds_read(both->right)) add(both->left);
      }
    }
    std::sort(found_.begin(), found_.end(), [](Span a, Span b) { return a.begin < b.begin; });
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  static bool is_connective(ast::BinaryOp op) {
    return op == ast::BinaryOp::logical_and || op == ast::BinaryOp::logical_or;
  }
  bool holds_read(ast::ExprId id) const {
    Span span = module_[id].span;
    return span.file == read_.file && span.begin <= read_.begin && read_.end <= span.end;
  }

  // For `i > 0 and i % 2 == 0`, the second.
  void add(ast::ExprId condition) {
    const ast::Expr& expr = module_[condition];
    if (auto* negated = std::get_if<ast::Unary>(&expr.node)) return add(negated->operand);
    if (auto* b = std::get_if<ast::Binary>(&expr.node); b && is_connective(b->op)) {
      add(b->left);
      return add(b->right);
    }
    if (is_not_affine(condition)) found_.push_back(expr.span);
  }

  bool is_not_affine(ast::ExprId id) const {
    const auto& node = module_[id].node;
    if (std::holds_alternative<ast::Index>(node) || std::holds_alternative<ast::FloatLiteral>(node) ||
        std::holds_alternative<ast::Reduce>(node))
      return true;
    if (auto* unary = std::get_if<ast::Unary>(&node)) return is_not_affine(unary->operand);
    if (auto* call = std::get_if<ast::Call>(&node))
      return std::any_of(call->args.begin(), call->args.end(),
                         [&](const auto& arg) { return is_not_affine(arg.value); });
    auto* binary = std::get_if<ast::Binary>(&node);
    if (!binary) return false;
    if (is_not_affine(binary->left) || is_not_affine(binary->right)) return true;
    bool left = names_variable(binary->left), right = names_variable(binary->right);
    if (binary->op == ast::BinaryOp::mul) return left && right;
    return (binary->op == ast::BinaryOp::div || binary->op == ast::BinaryOp::mod) && (left || right);
  }

  bool names_variable(ast::ExprId id) const {
    const auto& node = module_[id].node;
    if (auto* name = std::get_if<ast::NameRef>(&node))
      return std::find(variables_.begin(), variables_.end(), name->name) != variables_.end();
    if (auto* unary = std::get_if<ast::Unary>(&node)) return names_variable(unary->operand);
    if (auto* binary = std::get_if<ast::Binary>(&node))
      return names_variable(binary->left) || names_variable(binary->right);
    return false;
  }

  const ast::Module& module_;
  Span read_;
  const std::vector<std::string>& variables_;
  std::vector<Span> found_;
};

}  // namespace

std::vector<Span> uncounted_guards(const ast::Module& module, Span read, const std::vector<std::string>& variables) {
  return Guards(module, read, variables).find();
}

}  // namespace tap
