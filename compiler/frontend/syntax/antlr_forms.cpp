// Forms that begin with a keyword: if, let, reductions, iterate; and the ranges that reductions and `for` bind.
#include <algorithm>

#include "compiler/frontend/syntax/antlr_support.h"

namespace tap {

using ast::ExprId;

std::vector<ast::RangeVar> AstBuilder::ranges(const Contexts<TapParser::RangeVarContext>& list) {
  std::vector<ast::RangeVar> result;
  for (auto* c : list) {
    ast::RangeVar var{name(c->name), c->pack != nullptr, std::nullopt, std::nullopt, span(c)};
    if (c->low) {
      if (var.pack) fail(span(c), "a pack cannot have a range: it runs over all its dims");
      var.lo = expr(c->low);
      var.hi = expr(c->high);
    }
    result.push_back(std::move(var));
  }
  return result;
}

ExprId AstBuilder::reduce(const ast::Name& monoid, const Contexts<TapParser::RangeVarContext>& vars,
                          std::vector<ExprId> operands, Span span) {
  ast::Reduce result{monoid, ranges(vars), std::move(operands)};
  std::size_t depth = depth_of(result.operands);
  for (const ast::RangeVar& v : result.vars)
    if (v.lo) depth = std::max({depth, depth_of(*v.lo), depth_of(*v.hi)});
  return add_list(span, std::move(result), depth);
}

ExprId AstBuilder::let(TapParser::LowFormContext* c) {
  ast::Let result;
  std::size_t depth = 0;
  for (auto* l : c->lets) {
    ast::LetBinding binding{name(l->name), std::nullopt, expr(l->value)};
    if (l->index) binding.index = name(l->index);
    depth = std::max(depth, depth_of(binding.value));
    result.bindings.push_back(std::move(binding));
  }
  result.body = expr(c->body);
  depth = std::max(depth, depth_of(result.body));
  return add_list(span(c), std::move(result), depth);
}

ExprId AstBuilder::iterate(TapParser::LowFormContext* c) {
  std::size_t before = depth_.size();
  ast::Iterate result;
  if (c->low) {
    ExprId counter = expr(c->first);
    auto* plain = node<ast::NameRef>(counter);
    if (!plain) fail(module_[counter].span, "the counter of an `iterate` must be a name", "`iterate t in 0..n (…)`");
    result.counter = ast::Name{plain->name, module_[counter].span};
    result.lo = expr(c->low);
    result.hi = expr(c->high);
  } else {
    result.lo = add(Span{list_.file, span(c->first).begin, span(c->first).begin}, ast::IntLiteral{0, false});
    result.hi = expr(c->first);
  }
  for (auto* s : c->states) result.states.push_back({name(s->name), expr(s->value)});
  auto* last = c->statements.empty() ? nullptr : c->statements.back()->defines;
  if (!last || last->equals)
    fail(Diagnostic(Code::syntax, span(c->close), "the body of this `iterate` has no result")
             .label(span(c->kind), "it must end with one value per state")
             .help("end the body with the next state, as in `{ v2 = step(v); v2 }`"));
  for (std::size_t i = 0; i + 1 < c->statements.size(); ++i) result.body.push_back(statement(c->statements[i]));
  if (last->open && !last->op) {
    result.results = exprs(last->items);
  } else {
    result.results = {result_value(last)};
  }
  depth_.resize(module_.exprs.size() - first_);
  std::size_t depth = *std::max_element(depth_.begin() + static_cast<std::ptrdiff_t>(before), depth_.end());
  return add_list(span(c), std::move(result), depth);
}

ExprId AstBuilder::low_form(TapParser::LowFormContext* c) {
  switch (kind(c->kind)) {
    case TokenKind::if_: {
      ExprId condition = expr(c->test), yes = expr(c->value), no = expr(c->body);
      return add(span(c), ast::If{condition, yes, no}, {condition, yes, no});
    }
    case TokenKind::let: return let(c);
    case TokenKind::reduction: return reduce(name(c->kind), c->vars, {expr(c->body)}, span(c));
    default: return iterate(c);
  }
}

}  // namespace tap
