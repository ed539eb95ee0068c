// The order of a body's statements: each name is defined before it is used, and nothing depends on itself.
#include <algorithm>

#include "compiler/frontend/cells/names_used.h"
#include "compiler/frontend/elaborate/body.h"

namespace tap {

// The statements that define a name, if it is defined in this body.
const std::vector<std::size_t>* BodyBuilder::definers(const std::string& name) const {
  if (auto target = targets_.find(name); target != targets_.end() && !target->second.writers.empty())
    return &target->second.writers;
  if (auto binder = binders_.find(name); binder != binders_.end()) return &binder->second;
  return nullptr;
}

// Searches backwards from a statement through what it uses, without recursion, since a body may have 100,000
// statements. Reaching the current one closes a cycle: returns its statements, and the names that lead from each to the
// next.
bool BodyBuilder::path_to_current(std::size_t from, std::vector<std::size_t>& statements,
                                  std::vector<std::string>& names) const {
  struct Step {
    std::size_t statement;
    std::vector<std::pair<std::string, std::size_t>> next;  // name, and the statement that it leads to
  };
  auto step_at = [&](std::size_t at) {
    Step step{at, {}};
    for (const auto& use : names_used(*env_.module, (*statements_)[at]))
      if (const auto* by = definers(use.name))
        for (std::size_t next : *by) step.next.emplace_back(use.name, next);
    std::reverse(step.next.begin(), step.next.end());
    return step;
  };
  std::vector<bool> seen(statements_->size(), false);
  std::vector<Step> path{step_at(from)};
  while (!path.empty() && path.back().statement != current_) {
    seen[path.back().statement] = true;
    if (path.back().next.empty()) {
      path.pop_back();
      if (!names.empty()) names.pop_back();
      continue;
    }
    auto [name, next] = path.back().next.back();
    path.back().next.pop_back();
    if (seen[next]) continue;
    names.push_back(name);
    path.push_back(step_at(next));
  }
  for (const Step& step : path) statements.push_back(step.statement);
  return !path.empty();
}

// x = relu(x), where x is an input or already bound: a new value under the old name is probably intended. Not for
// equations that follow others of the same tensor, since these may be an intended recurrence.
void BodyBuilder::report_redefinition(const ast::Statement& statement, const std::string& name,
                                      const std::vector<std::size_t>& by) {
  auto* known = env_.find_as<TensorEntity>(name);
  auto* whole = std::get_if<ast::Binding>(&statement.node);
  bool state = outer_ && by.size() == 1;
  if (!known || !known->complete || known->owner != this || state || (!whole && by.size() > 1)) return;
  Span left = statement.span;
  if (whole) {
    for (const ast::Name& bound : whole->left)
      if (bound.text == name) left = bound.span;
  } else if (auto* cells = std::get_if<ast::Equation>(&statement.node)) {
    for (const ast::LeftSide& cell : cells->left)
      if (cell.base.text == name) left = cell.span;
  }
  elaboration_.fail(Diagnostic(Code::duplicate_name, left, quoted(name) + " is already defined; tensors are immutable")
                        .label(known->span, "defined here")
                        .help("give the new value a new name, for example " + quoted(name + "2")));
}

// y[i] = y[i - 1] + x[i], which reads other cells of y than it writes.
static bool reads_other_cells(const ast::Module& module, const ast::Statement& statement, const std::string& name) {
  auto* equation = std::get_if<ast::Equation>(&statement.node);
  if (!equation) return false;
  auto variable = [&](ast::ExprId id) {
    auto* plain = std::get_if<ast::NameRef>(&module[id].node);
    auto* pack = std::get_if<ast::PackRef>(&module[id].node);
    return plain ? plain->name : pack ? pack->name + ".." : "";
  };
  for (const ast::Expr& expr : module.exprs) {
    auto* read = std::get_if<ast::Index>(&expr.node);
    if (!read || read->base.text != name || expr.span.begin < statement.span.begin ||
        expr.span.end > statement.span.end)
      continue;
    for (const ast::LeftSide& cell : equation->left) {
      if (cell.base.text != name) continue;
      bool same =
          std::equal(cell.indices.begin(), cell.indices.end(), read->indices.begin(), read->indices.end(),
                     [&](ast::ExprId a, ast::ExprId b) { return !variable(a).empty() && variable(a) == variable(b); });
      if (!same) return true;
    }
  }
  return false;
}

// A name that only a later statement defines is used too early; if that depends on this statement, there is a cycle,
// which is reported once.
void BodyBuilder::use_before_definition(const ast::Statement& statement) {
  for (const auto& use : names_used(*env_.module, statement)) {
    const auto* by = definers(use.name);
    if (!by || by->back() < current_) continue;
    auto* known = env_.find_as<TensorEntity>(use.name);
    if (known && known->complete && known->owner != this && by->front() > current_) continue;
    if (known && known->poisoned) throw Abandoned{};
    std::vector<std::size_t> statements;
    std::vector<std::string> names;
    if (!path_to_current(by->back(), statements, names)) {
      bool begun = by->front() < current_;
      elaboration_.fail(
          Diagnostic(Code::used_before_definition, use.span,
                     quoted(use.name) + " is used before it is " + (begun ? "complete" : "defined"))
              .label((*statements_)[by->back()].span, begun ? "this also writes it" : "it is defined here")
              .help("move the definition before its use"));
    }
    if (statements.size() == 1 && by->back() == current_) report_redefinition(statement, use.name, *by);
    std::string text = use.name;
    for (const auto& name : names) text += " -> " + name;
    const bool sole = by->back() == current_;
    Diagnostic d(Code::cyclic_definition, use.span,
                 sole ? quoted(use.name) + " is read in its own definition"
                      : "the definition of " + quoted(use.name) + " depends on itself: " + text + " -> " + use.name);
    if (!sole) d.label((*statements_)[by->back()].span, "it is defined here");
    const std::string update_a_state = "to update a state, use `iterate` (docs/guide/in_place_algorithms.md)";
    auto* state = outer_ ? env_.find_as<TensorEntity>(use.name) : nullptr;
    if (state && state->owner == this && by->size() == 1 && sole)
      d.help("give the next state a new name, and end the body with it: " +
             quoted(use.name + "2[…] = …; " + use.name + "2"));
    else if (!sole) d.help(update_a_state);
    else if (reads_other_cells(*env_.module, statement, use.name))
      d.help(update_a_state + "; write a prefix sum as `y[i] = sum[k in 0..i + 1] x[k]`");
    else
      d.help(
          "a tensor is defined once; give the new value another name, or use `iterate` to update a state "
          "(docs/guide/in_place_algorithms.md)");
    for (std::size_t other : statements) {
      in_cycle_.insert(other);
      poison((*statements_)[other]);
    }
    elaboration_.fail(std::move(d));
  }
}

}  // namespace tap
