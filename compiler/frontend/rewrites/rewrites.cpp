// Rewrite rules: every operator exists and is called with its number of inputs, and every variable of the replacement
// and the guard occurs in the pattern. Later passes match and apply the rules.
#include <algorithm>
#include <functional>
#include <set>

#include "compiler/frontend/elaborate/annotations.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/rewrites/rule_graphs.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"

namespace tap {
namespace {

class RuleChecker {
 public:
  RuleChecker(Elaboration& elaboration, const ModuleScope& scope, const ast::Module& module,
              const ast::RewriteDecl& rule)
      : elaboration_(elaboration), scope_(scope), module_(module), rule_(rule) {}

  void check() {
    if (!std::holds_alternative<ast::Call>(module_[rule_.pattern].node))
      elaboration_.fail(
          Diagnostic(Code::wrong_kind_of_name, module_[rule_.pattern].span,
                     "the pattern of a rewrite must be a call of an operator, for example `linear(x, w, b)`"));
    expression(rule_.pattern, true);
    expression(rule_.replacement, false);
    if (rule_.guard) guard(*rule_.guard);
  }

 private:
  void expression(ast::ExprId id, bool pattern) {
    const ast::Expr& expr = module_[id];
    if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
      if (pattern) variables_.insert(name->name);
      else if (!variables_.count(name->name))
        elaboration_.fail(
            Diagnostic(Code::unknown_name, expr.span, quoted(name->name) + " is not a variable of the pattern")
                .label(module_[rule_.pattern].span, "the pattern"));
      return;
    }
    auto* call = std::get_if<ast::Call>(&expr.node);
    if (!call) {
      if (std::holds_alternative<ast::IntLiteral>(expr.node) || std::holds_alternative<ast::FloatLiteral>(expr.node))
        return;
      elaboration_.fail(
          Diagnostic(Code::wrong_kind_of_name, expr.span,
                     "a rewrite consists of calls and variables; got " + quoted(source_of(elaboration_, expr.span))));
    }
    const std::string& callee = call->callee.back().text;
    bool builtin = call->callee.size() == 1 && builtin_function(callee);
    if (!builtin) {
      const Definition* definition =
          call->callee.size() == 2
              ? elaboration_.definitions.find_qualified(scope_, Sort::op, call->callee[0].text, callee)
              : elaboration_.definitions.find(scope_, Sort::op, call->callee.back());
      if (!definition) {
        Diagnostic d(Code::unknown_name, call->callee.back().span, "unknown operator " + quoted(callee));
        Env env;
        env.module = &module_;
        env.scope = &scope_;
        offer_definition(elaboration_, env, Sort::op, call->callee.back(), d);
        elaboration_.fail(std::move(d));
      }
      std::size_t expected = signature_of(*definition).inputs.size();
      if (expected != call->args.size())
        elaboration_.fail(Diagnostic(Code::wrong_argument_count, expr.span,
                                     quoted(callee) + " takes " + counted(expected, "argument") + "; got " +
                                         std::to_string(call->args.size()))
                              .label(definition->name_span, "declared here"));
      if (pattern) operators_[callee] = definition;
    }
    for (const auto& arg : call->args) expression(arg.value, pattern);
  }

  // matmul.in > 4096: a dim of an operator of the pattern.
  void guard(ast::ExprId id) {
    const ast::Expr& expr = module_[id];
    if (auto* binary = std::get_if<ast::Binary>(&expr.node)) {
      auto* divisor = std::get_if<ast::IntLiteral>(&module_[binary->right].node);
      bool divides = binary->op == ast::BinaryOp::div || binary->op == ast::BinaryOp::mod;
      if (divides && divisor && divisor->magnitude == 0)
        elaboration_.fail(Diagnostic(Code::division_by_constant_zero, expr.span,
                                     quoted(source_of(elaboration_, expr.span)) + " divides by zero"));
      return guard(binary->left), guard(binary->right);
    }
    if (auto* unary = std::get_if<ast::Unary>(&expr.node)) return guard(unary->operand);
    if (std::holds_alternative<ast::IntLiteral>(expr.node)) return;
    auto* member = std::get_if<ast::Member>(&expr.node);
    auto* object = member ? std::get_if<ast::NameRef>(&module_[member->object].node) : nullptr;
    if (!object)
      elaboration_.fail(
          Diagnostic(Code::wrong_kind_of_name, expr.span,
                     "a guard must compare dims of the pattern's operators, for example `matmul.k > 4096`; got " +
                         quoted(source_of(elaboration_, expr.span))));
    auto found = operators_.find(object->name);
    if (found == operators_.end())
      elaboration_.fail(Diagnostic(Code::unknown_name, module_[member->object].span,
                                   quoted(object->name) + " is not an operator of the pattern"));
    std::set<std::string> dims;
    Signature signature = signature_of(*found->second);
    for (const auto& input : signature.inputs)
      for (const auto& item : input.type.dims)
        if (auto* dim = std::get_if<ast::NameRef>(&(*found->second->module)[item.size].node)) dims.insert(dim->name);
    if (dims.count(member->member.text)) return;
    Diagnostic d(Code::unknown_name, member->member.span,
                 quoted(object->name) + " has no dim " + quoted(member->member.text));
    if (auto near = did_you_mean(member->member.text, {dims.begin(), dims.end()}))
      d.help("did you mean " + quoted(*near) + "?").fix(member->member.span, *near);
    elaboration_.fail(std::move(d));
  }

  Elaboration& elaboration_;
  const ModuleScope& scope_;
  const ast::Module& module_;
  const ast::RewriteDecl& rule_;
  std::set<std::string> variables_;
  std::map<std::string, const Definition*> operators_;
};

std::string one_line(std::string_view text) {
  std::string result;
  for (char c : text) {
    bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (space && (result.empty() || result.back() == ' ')) continue;
    result += space ? ' ' : c;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace

std::string text_of_rule(const Elaboration& elaboration, const ast::Module& module, const ast::RewriteDecl& rule) {
  Span span = join(module[rule.pattern].span, module[rule.guard ? *rule.guard : rule.replacement].span);
  return "rewrite " + one_line(elaboration.sources.text(span));
}

void check_rewrites(Elaboration& elaboration, const ModuleScope& scope) {
  for (const auto& [module, declaration] : scope.rewrites) {
    const auto& rule = std::get<ast::RewriteDecl>(declaration->node);
    try {
      RuleChecker(elaboration, scope, *module, rule).check();
      elaboration.program.rewrites.push_back({text_of_rule(elaboration, *module, rule)});
    } catch (const Abandoned&) {}
  }
}

}  // namespace tap
