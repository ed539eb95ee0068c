#include "compiler/frontend/cells/names_used.h"

#include <set>

namespace tap {
namespace {

class NameCollector {
 public:
  explicit NameCollector(const ast::Module& module) : module_(module) {}

  void statement(const ast::Statement& statement) {
    if (auto* equation = std::get_if<ast::Equation>(&statement.node)) {
      for (const auto& cell : equation->left)
        for (ast::ExprId index : cell.indices) expr(index, false);
      expr(equation->right, false);
    } else if (auto* binding = std::get_if<ast::Binding>(&statement.node)) {
      expr(binding->right, true);
    }
  }

  std::vector<NameUse> uses;

 private:
  // `whole`: a bare name is a tensor here; in a cell expression it may be an index variable.
  void expr(ast::ExprId id, bool whole) {
    const ast::Expr& e = module_[id];
    if (auto* name = std::get_if<ast::NameRef>(&e.node)) {
      if (whole && !hidden_.count(name->name)) uses.push_back({name->name, e.span});
    } else if (auto* index = std::get_if<ast::Index>(&e.node)) {
      if (!hidden_.count(index->base.text)) uses.push_back({index->base.text, index->base.span});
      for (ast::ExprId inner : index->indices) expr(inner, false);
      if (index->fill) expr(*index->fill, false);
    } else if (auto* call = std::get_if<ast::Call>(&e.node)) {
      for (const auto& arg : call->args) expr(arg.value, whole);
    } else if (auto* unary = std::get_if<ast::Unary>(&e.node)) {
      expr(unary->operand, whole);
    } else if (auto* binary = std::get_if<ast::Binary>(&e.node)) {
      expr(binary->left, whole);
      expr(binary->right, whole);
    } else if (auto* choice = std::get_if<ast::If>(&e.node)) {
      expr(choice->condition, whole);
      expr(choice->then_value, whole);
      expr(choice->else_value, whole);
    } else if (auto* let = std::get_if<ast::Let>(&e.node)) {
      for (const auto& binding : let->bindings) expr(binding.value, whole);
      expr(let->body, whole);
    } else if (auto* reduce = std::get_if<ast::Reduce>(&e.node)) {
      for (ast::ExprId operand : reduce->operands) expr(operand, false);
    } else if (auto* tuple = std::get_if<ast::Tuple>(&e.node)) {
      for (ast::ExprId item : tuple->items) expr(item, whole);
    } else if (auto* iterate = std::get_if<ast::Iterate>(&e.node)) {
      visit_iterate(*iterate);
    }
  }

  void visit_iterate(const ast::Iterate& iterate) {
    for (const auto& state : iterate.states) expr(state.initial, true);
    std::set<std::string> outer = hidden_;
    for (const auto& state : iterate.states) hidden_.insert(state.name.text);
    for (const auto& inner : iterate.body) {
      if (auto* equation = std::get_if<ast::Equation>(&inner.node))
        for (const auto& cell : equation->left) hidden_.insert(cell.base.text);
      if (auto* binding = std::get_if<ast::Binding>(&inner.node))
        for (const auto& name : binding->left) hidden_.insert(name.text);
    }
    for (const auto& inner : iterate.body) statement(inner);
    for (ast::ExprId result : iterate.results) expr(result, true);
    hidden_ = std::move(outer);
  }

  const ast::Module& module_;
  std::set<std::string> hidden_;  // defined inside the enclosing iterates
};

}  // namespace

std::vector<NameUse> names_used(const ast::Module& module, const ast::Statement& statement) {
  NameCollector collector(module);
  collector.statement(statement);
  return std::move(collector.uses);
}

}  // namespace tap
