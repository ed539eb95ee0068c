#include "compiler/frontend/cells/where_conditions.h"

#include <algorithm>

#include "compiler/frontend/elaborate/generics.h"
#include "compiler/frontend/elaborate/sizes.h"

namespace tap {
namespace {

// The names in a condition, each once, in source order.
class NamesOfCondition {
 public:
  explicit NamesOfCondition(const Env& env) : env_(env) {}

  std::vector<std::string> found;

  void collect(ast::ExprId id) {
    const auto& node = env_[id].node;
    if (auto* name = std::get_if<ast::NameRef>(&node)) add(name->name);
    if (auto* pack = std::get_if<ast::PackRef>(&node)) add(pack->name);
    if (auto* unary = std::get_if<ast::Unary>(&node)) collect(unary->operand);
    if (auto* binary = std::get_if<ast::Binary>(&node)) collect(binary->left), collect(binary->right);
    if (auto* call = std::get_if<ast::Call>(&node))
      for (const auto& arg : call->args) collect(arg.value);
    if (auto* choice = std::get_if<ast::If>(&node)) {
      collect(choice->condition);
      collect(choice->then_value);
      collect(choice->else_value);
    }
  }

 private:
  void add(const std::string& name) {
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  const Env& env_;
};

std::optional<std::string> value_text(const std::string& name, const Entity& entity) {
  if (auto* dim = std::get_if<DimEntity>(&entity)) return name + " is " + std::to_string(dim->size);
  if (auto* parameter = std::get_if<IntEntity>(&entity)) return name + " is " + std::to_string(parameter->value);
  if (auto* flag = std::get_if<BoolEntity>(&entity)) return name + " is " + (flag->value ? "true" : "false");
  if (auto* pack = std::get_if<PackEntity>(&entity)) return name + ".. is " + to_string(pack->sizes);
  return std::nullopt;
}

// The location of the parameter in the call, if the condition mentions only this one; else the call.
Span condition_span(const Env& callee, const std::vector<std::string>& names, Span call_span) {
  std::vector<Span> written;
  for (const auto& name : names) {
    auto* parameter = callee.find_as<IntEntity>(name);
    if (!parameter || parameter->span.file != call_span.file) continue;
    if (call_span.begin <= parameter->span.begin && parameter->span.end <= call_span.end)
      written.push_back(parameter->span);
  }
  return written.size() == 1 ? written[0] : call_span;
}

}  // namespace

std::string values_in_condition(const Env& callee, ast::ExprId condition) {
  NamesOfCondition names(callee);
  names.collect(condition);
  std::vector<std::string> values;
  for (const auto& name : names.found)
    if (auto* entity = callee.find(name))
      if (auto value = value_text(name, *entity)) values.push_back(*value);
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + values[i];
  return text;
}

namespace {

[[noreturn]] void does_not_hold(Elaboration& elaboration, const Env& callee, const ast::WhereClause& clause,
                                const std::string& name, Span call_span) {
  NamesOfCondition names(callee);
  names.collect(*clause.condition);
  std::string values = values_in_condition(callee, *clause.condition);
  elaboration.fail(Diagnostic(Code::condition_not_met, condition_span(callee, names.found, call_span),
                              quoted(name) + " requires " + quoted(source_of(elaboration, clause.span)) +
                                  (values.empty() ? ", which does not hold" : "; here " + values))
                       .label(clause.span, "required here"));
}

}  // namespace

void check_decided_conditions(Elaboration& elaboration, const Env& callee, const std::vector<ast::WhereClause>& where,
                              const std::string& name, Span call_span) {
  for (const auto& clause : where) {
    if (!clause.condition) continue;
    auto holds = try_condition(elaboration, callee, *clause.condition);
    if (auto* decided = std::get_if<bool>(&holds); decided && !*decided)
      does_not_hold(elaboration, callee, clause, name, call_span);
  }
}

void check_where(Elaboration& elaboration, const Env& callee, const Signature& signature, Span call_span) {
  for (const auto& clause : signature.where) {
    if (clause.type_name) check_class(elaboration, callee, clause, signature.name.text, "input", call_span);
    else if (clause.condition && !eval_condition(elaboration, callee, *clause.condition))
      does_not_hold(elaboration, callee, clause, signature.name.text, call_span);
  }
}

}  // namespace tap
