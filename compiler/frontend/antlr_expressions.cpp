// Expressions: from the flat rules of the grammar to trees with precedence.
//
//   not a + b * c < d      the grammar gives   not  a  + b  * c  < d
//                          the tree is         not ((a + (b * c)) < d)
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "compiler/frontend/antlr_support.h"

namespace tap {

using ast::ExprId;

namespace {

// or 1, and 2, not 3, comparisons 4, + - 5, * / % 6, unary minus 7
constexpr int lowest = 1, not_level = 3, comparison_level = 4, minus_level = 7;

struct Operator {
  ast::BinaryOp op;
  int level;
};
Operator operator_of(TokenKind kind) {
  using ast::BinaryOp;
  switch (kind) {
    case TokenKind::or_: return {BinaryOp::logical_or, 1};
    case TokenKind::and_: return {BinaryOp::logical_and, 2};
    case TokenKind::equal: return {BinaryOp::equal, comparison_level};
    case TokenKind::not_equal: return {BinaryOp::not_equal, comparison_level};
    case TokenKind::less: return {BinaryOp::less, comparison_level};
    case TokenKind::less_equal: return {BinaryOp::less_equal, comparison_level};
    case TokenKind::greater: return {BinaryOp::greater, comparison_level};
    case TokenKind::greater_equal: return {BinaryOp::greater_equal, comparison_level};
    case TokenKind::plus: return {BinaryOp::add, 5};
    case TokenKind::minus: return {BinaryOp::sub, 5};
    case TokenKind::times: return {BinaryOp::mul, 6};
    case TokenKind::divide: return {BinaryOp::div, 6};
    default: return {BinaryOp::mod, 6};
  }
}

constexpr std::uint64_t two_to_63 = std::uint64_t{1} << 63;

// The decimal exponent of a number's leading digit, to tell what overflows from what underflows; nothing for zero.
std::optional<long> magnitude(std::string_view text) {
  std::size_t e = text.find_first_of("eE");
  std::string_view digits = text.substr(0, e);
  std::size_t dot = std::min(digits.find('.'), digits.size());
  std::size_t first = digits.find_first_not_of("0.");
  if (first == std::string_view::npos) return std::nullopt;
  long place = first < dot ? static_cast<long>(dot - first) - 1 : -static_cast<long>(first - dot);
  if (e == std::string_view::npos) return place;
  bool negative = text[e + 1] == '-';
  std::string_view power = text.substr(e + 1 + (negative || text[e + 1] == '+'));
  long value = 0;
  for (char c : power) value = std::min(value * 10 + (c - '0'), 1'000'000'000L);
  return place + (negative ? -value : value);
}

std::string shortened(const std::string& text) { return text.size() <= 40 ? text : text.substr(0, 37) + "..."; }

}  // namespace

ExprId AstBuilder::add_at(std::size_t depth, ast::Expr e) {
  if (depth > max_depth_)
    fail(Diagnostic(
             Code::nesting_too_deep, e.span,
             fmt::format("nesting deeper than {}: this expression holds more operations inside each other", max_depth_))
             .help("give parts of it names of their own"));
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

// ---- precedence

struct AstBuilder::Flat {
  struct Item {
    const Tokens* prefix;
    std::size_t next_prefix = 0;
    ExprId value;
  };
  std::vector<Item> items;
  std::vector<antlr4::Token*> ops;  // ops[k] stands between items k and k + 1
  std::size_t at = 0;               // the item to read next
};

ExprId AstBuilder::expr(TapParser::ExprContext* c) {
  if (c->prefix.empty() && !c->right) return operand(c);
  Flat flat;
  flatten(flat, c);
  return climb(flat, lowest);
}

ExprId AstBuilder::operand(TapParser::ExprContext* c) {
  if (c->first) return named(c->first);
  return c->other ? unnamed(c->other) : low_form(c->low);
}

void AstBuilder::flatten(Flat& flat, TapParser::ExprContext* c) {
  for (; c; c = c->right) {
    if (c->prefix.size() > max_prefixes_)
      fail(Diagnostic(Code::nesting_too_deep, span(c->prefix[max_prefixes_]),
                      fmt::format("nesting deeper than {}", max_prefixes_)));
    bool minus_before = !c->prefix.empty() && kind(c->prefix.back()) == TokenKind::minus;
    // -9223372036854775808 is one literal: its magnitude alone would not fit.
    if (c->other && minus_before && kind(c->other->kind) == TokenKind::integer &&
        text(c->other->kind) == "9223372036854775808") {
      ExprId least = add(join(span(c->prefix.back()), span(c->other->kind)), ast::IntLiteral{two_to_63, true});
      c->prefix.pop_back();
      flat.items.push_back({&c->prefix, 0, least});
    } else {
      flat.items.push_back({&c->prefix, 0, operand(c)});
    }
    if (c->right) flat.ops.push_back(c->op);
  }
}

// The value that ends the body of an iterate, which the grammar reads as the left side of an equation.
ExprId AstBuilder::result_value(TapParser::EquationContext* c) {
  if (c->low) return low_form(c->low);
  ExprId first = c->left ? named(c->left) : group(c->items, join(span(c->open), span(c->close)));
  if (!c->op) return first;
  const Tokens no_prefix;
  Flat flat;
  flat.items.push_back({&no_prefix, 0, first});
  flat.ops.push_back(c->op);
  flatten(flat, c->right);
  return climb(flat, lowest);
}

ExprId AstBuilder::prefixed(Flat& flat, int level) {
  Flat::Item& item = flat.items[flat.at];
  if (item.next_prefix == item.prefix->size()) {
    ++flat.at;
    return item.value;
  }
  antlr4::Token* sign = (*item.prefix)[item.next_prefix++];
  if (kind(sign) == TokenKind::minus) {
    ExprId operand = prefixed(flat, minus_level);
    return add(join(span(sign), module_[operand].span), ast::Unary{ast::UnaryOp::negate, operand}, {operand});
  }
  if (level > not_level)
    fail(span(sign), "`not` binds weaker than the operator before it", "put parentheses around it: `(not a)`");
  ExprId operand = climb(flat, not_level);
  return add(join(span(sign), module_[operand].span), ast::Unary{ast::UnaryOp::logical_not, operand}, {operand});
}

ExprId AstBuilder::climb(Flat& flat, int level) {
  ExprId left = prefixed(flat, level);
  while (flat.at - 1 < flat.ops.size()) {
    std::size_t op = flat.at - 1;
    if (operator_of(kind(flat.ops[op])).level < level) break;
    left = operation(flat, left, op, operator_of(kind(flat.ops[op])).level);
  }
  return left;
}

ExprId AstBuilder::operation(Flat& flat, ExprId left, std::size_t op, int level) {
  ExprId right = climb(flat, level + 1);
  Span at = span(flat.ops[op]);
  std::size_t next = flat.at - 1;
  if (level == comparison_level && next < flat.ops.size() &&
      operator_of(kind(flat.ops[next])).level == comparison_level) {
    Span second = span(flat.ops[next]);
    Span middle = module_[right].span;
    std::string again =
        fmt::format("and {} {}", list_.text.substr(middle.begin, middle.end - middle.begin), text(flat.ops[next]));
    fail(Diagnostic(Code::comparison_chain, second,
                    "comparisons do not chain: this would compare the truth of the first one")
             .label(at, "the first comparison")
             .help("compare twice, as in `a < b and b < c`")
             .fix(second, again));
  }
  return add(join(module_[left].span, module_[right].span),
             ast::Binary{operator_of(kind(flat.ops[op])).op, left, right, at}, {left, right});
}

// ---- literals

ExprId AstBuilder::integer(antlr4::Token* t) {
  std::string digits = text(t);
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || value >= two_to_63)
    fail(Diagnostic(Code::literal_out_of_range, span(t),
                    fmt::format("`{}` does not fit in 64 bits: the greatest integer is 9223372036854775807",
                                shortened(digits)))
             .help("as a float it would be written with a dot"));
  return add(span(t), ast::IntLiteral{value, false});
}

ExprId AstBuilder::floating(antlr4::Token* t) {
  std::string digits = text(t);
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    auto size = magnitude(digits);
    if (size && *size > 0)
      fail(Diagnostic(Code::literal_out_of_range, span(t),
                      fmt::format("`{}` is greater than every f64: the greatest is about 1.8e308", shortened(digits)))
               .help("infinity is written `inf`")
               .fix(span(t), "inf"));
    value = 0;
  }
  if (value == 0 && magnitude(digits))
    diagnostics_.report(
        Diagnostic(Code::literal_underflow, span(t),
                   fmt::format("`{}` rounds to 0: the least positive f64 is about 4.9e-324", shortened(digits)))
            .help("write `0.0`")
            .fix(span(t), "0.0"));
  return add(span(t), ast::FloatLiteral{value, std::move(digits)});
}

ExprId AstBuilder::literal(antlr4::Token* t) {
  switch (kind(t)) {
    case TokenKind::integer: return integer(t);
    case TokenKind::float_: return floating(t);
    case TokenKind::true_: return add(span(t), ast::BoolLiteral{true});
    case TokenKind::false_: return add(span(t), ast::BoolLiteral{false});
    case TokenKind::inf: return add(span(t), ast::FloatLiteral{std::numeric_limits<double>::infinity(), "inf"});
    case TokenKind::nan: return add(span(t), ast::FloatLiteral{std::numeric_limits<double>::quiet_NaN(), "nan"});
    default: fail(span(t), "a string is no value: only `kernel \"…\"` takes one");
  }
}

std::int64_t AstBuilder::whole_number(antlr4::Token* t) {
  ExprId id = integer(t);
  return static_cast<std::int64_t>(node<ast::IntLiteral>(id)->magnitude);
}

// ---- names, calls, cells

ExprId AstBuilder::members(ExprId object, const Tokens& names, Span from) {
  for (antlr4::Token* t : names) object = add(join(from, span(t)), ast::Member{object, name(t)}, {object});
  return object;
}

ExprId AstBuilder::pack_of(ExprId of, antlr4::Token* dots) {
  Span all = join(module_[of].span, span(dots));
  if (auto* plain = node<ast::NameRef>(of)) return add(all, ast::PackRef{plain->name});
  fail(all, "`..` stands behind the name of a pack, or behind `broadcast(p, q)` where a tensor's type holds it");
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
      if (!key_name) fail(module_[key].span, "a parameter's name stands before `=`, as in `stride = 2`");
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
         "cells belong to a tensor of this body, which has a plain name");
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

// ---- if, let, reductions, iterate

std::vector<ast::RangeVar> AstBuilder::ranges(const Contexts<TapParser::RangeVarContext>& list) {
  std::vector<ast::RangeVar> result;
  for (auto* c : list) {
    ast::RangeVar var{name(c->name), c->pack != nullptr, std::nullopt, std::nullopt, span(c)};
    if (c->low) {
      if (var.pack) fail(span(c), "a pack has no written range: it runs over the dims that it stands for");
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
    if (!plain) fail(module_[counter].span, "the counter of an `iterate` is a name", "`iterate t in 0..n (…)`");
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
    fail(Diagnostic(Code::syntax, span(c->close), "the body of this `iterate` ends without its result")
             .label(span(c->kind), "one value per state is its result")
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
