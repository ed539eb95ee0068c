// Statements: equations over cells, bindings of whole tensors, and annotations for sharding.
//
//   y[i] = x[i] for i in 0..n     an Equation, since its left side is a cell
//   (v, at) = top1(x)             a Binding, since its left side is names
#include <fmt/format.h>

#include "compiler/frontend/syntax/antlr_support.h"
#include "compiler/frontend/syntax/syntax_habits.h"
#include "support/quoted.h"

namespace tap {

namespace {
bool is_cell(const TapParser::NamedContext* c, const TokenList& list) {
  return c->kind && list.kind(c->kind->getTokenIndex()) == TokenKind::lbracket;
}
}  // namespace

ast::Statement AstBuilder::statement(TapParser::StatementContext* c) {
  if (c->defines) return equation(c->defines, span(c->defines));
  if (c->groups) return {span(c->groups), ast::GroupStatement{names(c->groups->values)}};
  return c->stops ? barrier(c->stops, span(c->stops)) : split(c->splits, span(c->splits));
}

ast::Statement AstBuilder::equation(TapParser::EquationContext* c, Span all) {
  if (!c->equals) {
    Diagnostic habit(Code::syntax, all, {});
    if (habit_in_a_statement(list_, c->start->getTokenIndex(), habit)) {
      diagnostics_.report(std::move(habit));
      throw Abandoned{};
    }
    bool let = c->low && kind(c->low->kind) == TokenKind::let;
    fail(all,
         "this defines no value: a statement is an equation such as `y[i] = x[i]` or a binding such as `Y = relu(X)`",
         let ? "a statement needs no `let`: write `name = value`" : "only the body of an `iterate` ends with a value");
  }
  Contexts<TapParser::NamedContext> left = left_side(c);
  std::size_t count = 0;
  for (auto* item : left) count += is_cell(item, list_);
  if (count != 0 && count != left.size())
    fail(all, "the left side mixes cells and whole tensors",
         "write all of it with brackets, `(a[i], b[]) = …`, or none of it");
  return count != 0 ? cells(c, left, all) : whole(c, left, all);
}

AstBuilder::Contexts<TapParser::NamedContext> AstBuilder::left_side(TapParser::EquationContext* c) {
  if (c->left) return {c->left};
  Contexts<TapParser::NamedContext> left;
  for (auto* item : c->items) {
    if (!item->prefix.empty() || !item->first || item->right)
      fail(span(item), "a left side contains names or cells, as in `(v, at) = …` or `(v[i], at[i]) = …`");
    left.push_back(item->first);
  }
  return left;
}

ast::LeftSide AstBuilder::cell(TapParser::NamedContext* c) {
  if (c->path.size() > 1 || !c->members.empty() || c->pack) fail(span(c), "a left side is a cell such as `y[i, j]`");
  if (c->fill) fail(span(c->fill), "only reads take an `else`; a left side cannot have one");
  return {name(c->path[0]), exprs(c->subs), span(c)};
}

ast::Statement AstBuilder::cells(TapParser::EquationContext* c, Contexts<TapParser::NamedContext>& left, Span all) {
  ast::Equation result;
  for (auto* item : left) result.left.push_back(cell(item));
  result.tuple = c->open != nullptr;
  result.right = expr(c->right);
  result.ranges = ranges(c->ranges);
  if (c->layout)
    fail(span(c->layout), "a sharding belongs to a whole tensor, not to an equation over cells",
         "write it where the value is used, `f(y @ mesh[…])`, or on the program's result");
  return {all, std::move(result)};
}

ast::Statement AstBuilder::whole(TapParser::EquationContext* c, Contexts<TapParser::NamedContext>& left, Span all) {
  ast::Binding result;
  for (auto* item : left) {
    if (item->kind)
      fail(Diagnostic(Code::syntax, span(item), "a call cannot be defined")
               .help(fmt::format("cells are written in brackets: `{}[i] = …`", text(item->path[0]))));
    if (item->path.size() > 1 || item->pack) fail(span(item), "a left side is a plain name or a cell such as `y[i]`");
    result.left.push_back(name(item->path[0]));
  }
  result.tuple = c->open != nullptr;
  result.right = expr(c->right);
  if (c->layout) result.sharding = sharding(c->layout);
  if (!c->ranges.empty())
    fail(join(span(c->ranges.front()), span(c->ranges.back())),
         "`for` belongs to equations over cells; this binds whole tensors",
         fmt::format("write the cells: `{}[i] = … for i in 0..n`", result.left[0].text));
  return {all, std::move(result)};
}

ast::Statement AstBuilder::barrier(TapParser::BarrierStatementContext* c, Span all) {
  std::string direction = text(c->direction);
  ast::BarrierKind which = ast::BarrierKind::both;
  if (direction == "forward") {
    which = ast::BarrierKind::forward;
  } else if (direction == "backward") {
    which = ast::BarrierKind::backward;
  } else if (direction != "both") {
    fail(
        span(c->direction),
        fmt::format("found `{}`; a barrier stops propagation `forward`, `backward` or in `both` directions", direction),
        fmt::format("write `barrier {} both`", text(c->value)));
  }
  return {all, ast::BarrierStatement{name(c->value), which}};
}

ast::Statement AstBuilder::split(TapParser::SplitStatementContext* c, Span all) {
  ast::SplitStatement result;
  result.target = name(c->target);
  if (c->instance) result.instance = whole_number(c->instance);
  if (c->axis) result.axis = whole_number(c->axis), result.axis_span = span(c->axis);
  if (c->dim) result.dim = name(c->dim);
  if (c->count) result.count = expr(c->count);
  for (auto* b : c->blocks) {
    ExprId low = expr(b->low);
    result.blocks.emplace_back(low, expr(b->high));
  }
  if (c->place) {
    ast::AxisRef place = axis(c->place);
    if (c->inner) {
      if (place.sub) fail(place.span, "expected a mesh before the dot, not a part of an axis");
      result.placement = ast::Placement::mesh_axis;
      result.mesh = std::move(place.name);
      result.axis_ref = axis(c->inner);
    } else if (!place.sub && place.name.text == "threads") {
      result.placement = ast::Placement::threads;
    } else if (!place.sub && place.name.text == "sequential") {
      result.placement = ast::Placement::sequential;
    } else {
      result.placement = ast::Placement::mesh_axis;
      result.axis_ref = std::move(place);
    }
  }
  return {all, std::move(result)};
}

// ---- shardings

ast::AxisRef AstBuilder::axis(TapParser::AxisRefContext* c) {
  ast::AxisRef result{name(c->name), std::nullopt, span(c)};
  if (c->pre) {
    std::int64_t pre = whole_number(c->pre);
    result.sub = std::pair(pre, whole_number(c->size));
  }
  return result;
}

std::optional<std::int64_t> AstBuilder::priority(antlr4::Token* t) {
  if (!t) return std::nullopt;
  constexpr std::size_t most_digits = 9;
  std::string written = text(t);
  bool good = written.size() >= 2 && written[0] == 'p' &&
              written.find_first_not_of("0123456789", 1) == std::string::npos;
  if (!good)
    fail(Diagnostic(
        Code::bad_priority, span(t),
        fmt::format("found `{}` after the axes of a dim; only a priority may follow, such as `p1`", written)));
  std::size_t first = written.find_first_not_of('0', 1);
  if (first != std::string::npos && written.size() - first > most_digits)
    fail(Diagnostic(Code::bad_priority, span(t),
                    fmt::format("the priority {} is too large; the largest is `p{}`", quoted(written),
                                std::string(most_digits, '9'))));
  return std::stoll(written.substr(1));
}

ast::DimSharding AstBuilder::dim_sharding(TapParser::DimShardingContext* c) {
  ast::DimSharding result;
  result.span = span(c);
  for (auto* item : c->items) {
    if (result.open) fail(span(item), "`?` must come last: `{x, ?}` allows further axes");
    if (item->more) {
      result.open = true;
    } else {
      result.axes.push_back(axis(item->axis));
    }
  }
  result.priority = priority(c->priority);
  return result;
}

ast::Sharding AstBuilder::sharding(TapParser::ShardingContext* c) {
  ast::Sharding result;
  result.mesh = name(c->name);
  result.span = span(c);
  for (auto* d : c->dim) result.dims.push_back(dim_sharding(d));
  bool replicated = false, unreduced = false;
  for (auto* clause : c->clauses) {
    bool is_replicated = kind(clause->kind) == TokenKind::replicated;
    bool& seen = is_replicated ? replicated : unreduced;
    if (seen) fail(span(clause), fmt::format("`{}` is written twice in one sharding", text(clause->kind)));
    seen = true;
    auto& axes = is_replicated ? result.replicated : result.unreduced;
    for (auto* a : clause->axes) axes.push_back(axis(a));
    if (clause->operation) result.unreduced_monoid = name(clause->operation);
  }
  return result;
}

}  // namespace tap
