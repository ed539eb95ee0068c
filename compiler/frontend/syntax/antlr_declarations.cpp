// Declarations: from parse trees to syntax tree.
#include <fmt/format.h>

#include "compiler/frontend/syntax/antlr_support.h"

namespace tap {

void AstBuilder::declaration(TapParser::DeclarationContext* c, std::string doc, std::vector<ast::Declaration>& out) {
  if (c->uses) {
    out.push_back({span(c->uses), ast::UseDecl{name(c->uses->module)}});
  } else if (c->sizes) {
    for (auto* item : c->sizes->items) {
      Span all = item == c->sizes->items.front() ? join(span(c->sizes->start), span(item)) : span(item);
      out.push_back({all, ast::DimDecl{name(item->name), expr(item->value)}});
    }
  } else if (c->devices) {
    out.push_back({span(c->devices), mesh(c->devices)});
  } else if (c->reduces) {
    out.push_back({span(c->reduces), monoid(c->reduces, std::move(doc))});
  } else if (c->outside) {
    out.push_back({span(c->outside), outside(c->outside, std::move(doc))});
  } else {
    ast::RewriteDecl rule;
    rule.doc = std::move(doc);
    rule.pattern = expr(c->rewrites->pattern);
    rule.replacement = expr(c->rewrites->replacement);
    if (c->rewrites->guard) rule.guard = expr(c->rewrites->guard);
    out.push_back({span(c->rewrites), std::move(rule)});
  }
}

ast::MeshDecl AstBuilder::mesh(TapParser::MeshContext* c) {
  ast::MeshDecl result;
  result.name = name(c->name);
  for (auto* a : c->axes) result.axes.push_back({name(a->name), whole_number(a->size)});
  if (c->list) {
    result.devices.emplace();
    for (auto* id : c->list->ids) result.devices->push_back(whole_number(id));
    result.devices_span = span(c->list);
  }
  return result;
}

// ---- operators and programs

// broadcast(p, q)..   is the only call that stands for several dims.
bool AstBuilder::is_broadcast_pack(TapParser::ExprContext* c) const {
  if (!c->prefix.empty() || !c->first || c->right) return false;
  TapParser::NamedContext* n = c->first;
  return n->pack && n->kind && kind(n->kind) == TokenKind::lparen && n->members.empty() && n->path.size() == 1 &&
         text(n->path[0]) == "broadcast";
}

ast::DimItem AstBuilder::dim_item(TapParser::ExprContext* c) {
  ast::DimItem item;
  item.pack = is_broadcast_pack(c);
  item.size = item.pack ? call(c->first) : expr(c);
  item.pack |= node<ast::PackRef>(item.size) != nullptr;
  item.span = span(c);
  return item;
}

ast::TensorParam AstBuilder::tensor(TapParser::TensorContext* c) {
  ast::TensorParam result;
  result.name = name(c->name);
  result.type.element = name(c->element);
  for (auto* d : c->dim) result.type.dims.push_back(dim_item(d));
  result.type.span = join(span(c->element), span(c->close));
  result.is_const = c->constant != nullptr;
  if (c->layout) result.sharding = sharding(c->layout);
  return result;
}

std::vector<ast::TensorParam> AstBuilder::tensors(const Contexts<TapParser::TensorContext>& list) {
  std::vector<ast::TensorParam> result;
  for (auto* c : list) result.push_back(tensor(c));
  return result;
}

std::vector<ast::Param> AstBuilder::params(TapParser::ParamListContext* c) {
  std::vector<ast::Param> result;
  if (!c) return result;
  for (auto* p : c->items) {
    ast::Param param{name(p->name), p->pack != nullptr, name(p->kind), std::nullopt};
    if (p->value) param.default_value = expr(p->value);
    result.push_back(std::move(param));
  }
  return result;
}

std::vector<ast::WhereClause> AstBuilder::conditions(const Contexts<TapParser::ConditionContext>& list) {
  std::vector<ast::WhereClause> result;
  for (auto* c : list) {
    ast::WhereClause clause;
    clause.span = span(c);
    ExprId left = expr(c->left);
    if (c->typeClass) {
      auto* plain = node<ast::NameRef>(left);
      if (!plain) fail(module_[left].span, "expected the name of a generic type before `:`, as in `where T: number`");
      clause.type_name = ast::Name{plain->name, module_[left].span};
      clause.type_class = name(c->typeClass);
    } else {
      clause.condition = left;
    }
    result.push_back(std::move(clause));
  }
  return result;
}

// For an operator or an outside kernel.
template <class Decl, class Head>
void AstBuilder::read_head(Decl& result, Head* head, std::string doc) {
  result.doc = std::move(doc);
  result.name = name(head->name);
  result.params = params(head->params);
  result.inputs = tensors(head->inputs);
  result.results = tensors(head->results);
  result.where = conditions(head->conditions);
}

ast::OpDecl AstBuilder::op_head(TapParser::OpHeadContext* c, std::string doc) {
  ast::OpDecl result;
  read_head(result, c->head, std::move(doc));
  return result;
}

ast::ProgramDecl AstBuilder::program_head(TapParser::ProgramHeadContext* c, std::string doc) {
  ast::ProgramDecl result;
  result.doc = std::move(doc);
  result.name = name(c->name);
  result.inputs = tensors(c->inputs);
  result.results = tensors(c->results);
  return result;
}

// ---- outside kernels

ast::ExternAccess AstBuilder::access(TapParser::ExternClauseContext* c) {
  ast::ExternAccess result{name(c->name), exprs(c->corner), exprs(c->size), std::nullopt, span(c)};
  if (c->value) {
    if (kind(c->kind) == TokenKind::write) fail(span(c->value), "only reads take an `else`");
    result.fill = expr(c->value);
  }
  return result;
}

void AstBuilder::outside_clause(TapParser::ExternClauseContext* c, ast::ExternDecl& decl) {
  auto twice = [&](bool given) {
    if (given) fail(span(c), fmt::format("`{}` is written twice in `{}`", text(c->kind), decl.name.text));
  };
  switch (kind(c->kind)) {
    case TokenKind::index:
      twice(!decl.index.empty());
      for (auto* d : c->dimensions) {
        ast::ExternIndex dim{name(d->name), expr(d->extent), false, std::nullopt, span(d)};
        dim.keep = d->kind && kind(d->kind) == TokenKind::keep;
        bool reduces = d->kind && kind(d->kind) == TokenKind::reduce;
        if (reduces != (d->reduceBy != nullptr))
          fail(span(d), reduces ? "this reduction dim has no monoid" : "only a `reduce` dim takes `by`",
               "write a reduction dim as `reduce r: k by sum`");
        if (reduces) dim.reduce_by = name(d->reduceBy);
        decl.index.push_back(std::move(dim));
      }
      break;
    case TokenKind::read: decl.reads.push_back(access(c)); break;
    case TokenKind::write: decl.writes.push_back(access(c)); break;
    case TokenKind::kernel: {
      twice(decl.kernel_span.valid());
      std::string quoted = text(c->symbol);
      decl.kernel = quoted.substr(1, quoted.size() - 2);
      decl.kernel_span = span(c->symbol);
      break;
    }
    default: twice(decl.cost_flops.has_value()); decl.cost_flops = expr(c->value);
  }
}

ast::ExternDecl AstBuilder::outside(TapParser::ExternOperatorContext* c, std::string doc) {
  ast::ExternDecl result;
  read_head(result, c->head, std::move(doc));
  bool has_index = false;
  for (auto* clause : c->clauses) {
    outside_clause(clause, result);
    has_index |= kind(clause->kind) == TokenKind::index;
  }
  auto missing = [&](const char* what, const char* help) {
    fail(result.name.span, fmt::format("`{}` has no `{}`", result.name.text, what), help);
  };
  if (!has_index) missing("index", "name its index space, as in `index [i: n]`");
  if (result.writes.empty())
    missing("write", "state what each index point writes, as in `write y at [i, 0] shape [1, m]`");
  if (!result.kernel_span.valid()) missing("kernel", "name the C function, as in `kernel \"smooth_rows\"`");
  return result;
}

// ---- monoids

void AstBuilder::monoid_clause(TapParser::MonoidClauseContext* c, ast::MonoidDecl& monoid) {
  auto twice = [&](bool given) {
    if (given)
      fail(Diagnostic(Code::bad_monoid, span(c),
                      fmt::format("`{}` is written twice in `{}`", text(c->kind), monoid.name.text)));
  };
  switch (kind(c->kind)) {
    case TokenKind::identity:
      twice(monoid.identity_span.valid());
      monoid.identity = expr(c->body);
      monoid.identity_span = span(c);
      break;
    case TokenKind::combine:
      twice(monoid.combine_span.valid());
      if (c->names.size() != 2)
        fail(Diagnostic(Code::bad_monoid, span(c->kind),
                        fmt::format("`combine` takes two elements; this one takes {}", c->names.size()))
                 .help("write `combine (a, b) = …`"));
      monoid.left = name(c->names[0]);
      monoid.right = name(c->names[1]);
      monoid.combine = expr(c->body);
      monoid.combine_span = span(c);
      break;
    default:
      twice(monoid.fold.has_value());
      monoid.fold = ast::MonoidFold{name(c->index), names(c->names), expr(c->body)};
  }
}

ast::MonoidDecl AstBuilder::monoid(TapParser::MonoidContext* c, std::string doc) {
  ast::MonoidDecl result;
  result.doc = std::move(doc);
  result.name = name(c->name);
  if (c->params) fail(span(c->params), "a monoid takes no `<…>` parameters");
  for (auto* component : c->components) result.components.push_back({name(component->name), name(component->element)});
  result.where = conditions(c->conditions);
  for (const auto& clause : result.where)
    if (clause.condition)
      fail(Diagnostic(Code::bad_monoid, clause.span, "the `where` of a monoid may only constrain types to a class")
               .help("write for example `where T: float`"));
  for (auto* clause : c->clauses) monoid_clause(clause, result);
  auto missing = [&](const char* what, const char* help) {
    fail(Diagnostic(Code::bad_monoid, result.name.span, fmt::format("`{}` has no `{}`", result.name.text, what))
             .help(help));
  };
  if (!result.identity_span.valid()) missing("identity", "give the neutral element, as in `identity 0`");
  if (!result.combine_span.valid())
    missing("combine", "define how two elements combine, as in `combine (a, b) = a.v + b.v`");
  return result;
}

}  // namespace tap
