// Expressions: names, calls, cells and groups, with a limit on nesting.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/syntax/antlr_support.h"

namespace tap {

using ast::ExprId;

ExprId AstBuilder::add_at(std::size_t depth, ast::Expr e) {
  if (depth > max_depth_)
    fail(Diagnostic(Code::nesting_too_deep, e.span,
                    fmt::format("this expression is nested more than {} operations deep", max_depth_))
             .help("define parts of it in separate equations"));
  depth_.resize(module_.exprs.size() - first_);
  depth_.push_back(static_cast<std::uint16_t>(depth));
  return module_.add(std::move(e));
}

std::size_t AstBuilder::depth_of(const std::vector<ExprId>& ids) const {
  std::size_t depth = 0;
  for (ExprId id : ids) depth = std::max(depth, depth_of(id));
  return depth;
}

void AstBuilder::fail(Diagnostic d) {
  diagnostics_.report(std::move(d));
  throw Abandoned();
}

void AstBuilder::fail(Span at, std::string message, std::string help) {
  fail(Diagnostic(Code::syntax, at, std::move(message)).help(std::move(help)));
}

std::vector<ast::Name> AstBuilder::names(const Tokens& tokens) const {
  std::vector<ast::Name> result;
  for (antlr4::Token* t : tokens) result.push_back(name(t));
  return result;
}

std::vector<ExprId> AstBuilder::exprs(const Contexts<TapParser::ExprContext>& list) {
  std::vector<ExprId> result;
  result.reserve(list.size());
  for (auto* c : list) result.push_back(expr(c));
  return result;
}

// ---- names, calls, cells

ExprId AstBuilder::members(ExprId object, const Tokens& names, Span from) {
  for (antlr4::Token* t : names) object = add(join(from, span(t)), ast::Member{object, name(t)}, {object});
  return object;
}

ExprId AstBuilder::pack_of(ExprId of, antlr4::Token* dots) {
  Span all = join(module_[of].span, span(dots));
  if (auto* plain = node<ast::NameRef>(of)) return add(all, ast::PackRef{plain->name});
  fail(all, "`..` must follow the name of a pack, or `broadcast(p, q)` in the type of a tensor");
}

ExprId AstBuilder::call(TapParser::NamedContext* c) {
  ast::Call result;
  result.callee = names(c->path);
  result.has_params = c->angle != nullptr;
  std::size_t depth = 0;
  for (auto* p : c->params) {
    ast::ParamArg arg;
    arg.value = expr(p->setting ? p->setting : p->value);
    if (p->setting) {
      ExprId key = expr(p->value);
      auto* key_name = node<ast::NameRef>(key);
      if (!key_name) fail(module_[key].span, "expected the name of a parameter before `=`, as in `stride = 2`");
      arg.name = ast::Name{key_name->name, module_[key].span};
    }
    depth = std::max(depth, depth_of(arg.value));
    result.params.push_back(std::move(arg));
  }
  for (auto* a : c->args) {
    ast::Arg arg{expr(a->value), std::nullopt};
    if (a->layout) arg.sharding = sharding(a->layout);
    depth = std::max(depth, depth_of(arg.value));
    result.args.push_back(std::move(arg));
  }
  return add_list(join(span(c->start), span(c->close)), std::move(result), depth);
}

ExprId AstBuilder::cell_read(TapParser::NamedContext* c) {
  if (c->path.size() > 1)
    fail(join(span(c->path.front()), span(c->path.back())),
         "an index must follow the plain name of a tensor of this body",
         text(c->path.back()) == "shape"
             ? fmt::format("use the dims of its type: with `{}: f32[n, m]` the shape is [n, m]", text(c->path.front()))
             : std::string());
  ast::Index result{name(c->path[0]), exprs(c->subs), std::nullopt};
  if (c->fill) result.fill = expr(c->fill);
  std::size_t depth = std::max(depth_of(result.indices), result.fill ? depth_of(*result.fill) : 0);
  return add_list(join(span(c->start), span(c->close)), std::move(result), depth);
}

ExprId AstBuilder::named(TapParser::NamedContext* c) {
  ExprId result;
  if (!c->kind) {
    result = add(span(c->path[0]), ast::NameRef{text(c->path[0])});
    result = members(result, Tokens(c->path.begin() + 1, c->path.end()), span(c->start));
  } else {
    result = kind(c->kind) == TokenKind::lbracket ? cell_read(c) : call(c);
    result = members(result, c->members, span(c->start));
  }
  return c->pack ? pack_of(result, c->pack) : result;
}

ExprId AstBuilder::group(const Contexts<TapParser::ExprContext>& subs, Span all) {
  if (subs.size() > 1) {
    std::vector<ExprId> items = exprs(subs);
    std::size_t depth = depth_of(items);
    return add_list(all, ast::Tuple{std::move(items)}, depth);
  }
  ExprId inner = expr(subs[0]);
  if (auto* pack = node<ast::PackRef>(inner)) return add(all, ast::LinearIndex{pack->name});
  respan(inner, all);
  return inner;
}

ExprId AstBuilder::unnamed(TapParser::UnnamedContext* c) {
  if (c->subs.empty()) return literal(c->kind);
  Span from = span(c->kind);
  Span all = join(from, span(c->close));
  ExprId result = kind(c->kind) == TokenKind::user_reduction ? reduce(name(c->kind), c->vars, exprs(c->subs), all)
                                                             : group(c->subs, all);
  result = members(result, c->members, from);
  return c->pack ? pack_of(result, c->pack) : result;
}

}  // namespace tap
