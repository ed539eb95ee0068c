#include "compiler/frontend/cells/dims_as_variables.h"

#include <algorithm>

namespace tap {
namespace {

class DimsAsVariables {
 public:
  DimsAsVariables(const Env& env, const ast::Equation& equation) : env_(env) {
    for (const auto& cell : equation.left)
      for (ast::ExprId index : cell.indices)
        if (const std::string* name = dim_at(index)) add(*name, env[index].span);
    if (!names_.empty()) look(equation.right);
  }
  bool found() const { return found_; }

  Diagnostic message() const {
    std::string names, values, others;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const char* between = i == 0 ? "" : i + 1 == names_.size() ? " and " : ", ";
      names += between + quoted(names_[i]);
      values += between + std::to_string(env_.find_as<DimEntity>(names_[i])->size);
      others += between + quoted(names_[i] + "1");
    }
    bool one = names_.size() == 1;
    Diagnostic d(Code::dim_bound_as_variable, span_,
                 names + (one ? " is a dim here, the constant " : " are dims here, the constants ") + values +
                     (one ? ", not an index variable" : ", not index variables"));
    for (const std::string& name : names_)
      d.label(env_.find_as<DimEntity>(name)->span, quoted(name) + " is a dim here");
    d.help(std::string("choose ") + (one ? "another name for the index variable" : "other names for index variables") +
           ", for example " + others);
    return d;
  }

 private:
  const std::string* dim_at(ast::ExprId index) const {
    auto* name = std::get_if<ast::NameRef>(&env_[index].node);
    return name && env_.find_as<DimEntity>(name->name) ? &name->name : nullptr;
  }
  void add(const std::string& name, Span span) {
    if (names_.empty()) span_ = span;
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }

  // Ignores conditions: a guarded read may be out of bounds.
  void look(ast::ExprId id) {
    const auto& node = env_[id].node;
    if (auto* unary = std::get_if<ast::Unary>(&node)) look(unary->operand);
    if (auto* binary = std::get_if<ast::Binary>(&node)) {
      look(binary->left);
      look(binary->right);
    }
    if (auto* reduce = std::get_if<ast::Reduce>(&node))
      for (ast::ExprId operand : reduce->operands) look(operand);
    if (auto* call = std::get_if<ast::Call>(&node))
      for (const auto& arg : call->args) look(arg.value);
    if (auto* index = std::get_if<ast::Index>(&node)) read(*index);
  }
  void read(const ast::Index& index) {
    auto* tensor = env_.find_as<TensorEntity>(index.base.text);
    if (!tensor || index.fill || index.indices.size() != tensor->type.shape.size()) return;
    for (std::size_t axis = 0; axis < index.indices.size(); ++axis) {
      if (std::holds_alternative<ast::PackRef>(env_[index.indices[axis]].node)) return;
      const std::string* name = dim_at(index.indices[axis]);
      if (name && std::find(names_.begin(), names_.end(), *name) != names_.end())
        found_ |= env_.find_as<DimEntity>(*name)->size == tensor->type.shape[axis];
    }
  }

  const Env& env_;
  std::vector<std::string> names_;
  Span span_;
  bool found_ = false;
};

}  // namespace

void refuse_dims_as_variables(Elaboration& elaboration, const Env& env, const ast::Equation& equation) {
  DimsAsVariables dims(env, equation);
  if (dims.found()) elaboration.fail(dims.message());
}

}  // namespace tap
