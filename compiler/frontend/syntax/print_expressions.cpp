#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/syntax/expr_printer.h"
#include "compiler/frontend/syntax/precedence_levels.h"
#include "compiler/frontend/syntax/print_ast.h"

namespace tap {

using namespace ast;

namespace {

using namespace precedence;

struct OpText {
  const char* text;
  int level;
};
OpText op_text(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_or: return {"or", 1};
    case BinaryOp::logical_and: return {"and", 2};
    case BinaryOp::equal: return {"==", 4};
    case BinaryOp::not_equal: return {"!=", 4};
    case BinaryOp::less: return {"<", 4};
    case BinaryOp::less_equal: return {"<=", 4};
    case BinaryOp::greater: return {">", 4};
    case BinaryOp::greater_equal: return {">=", 4};
    case BinaryOp::add: return {"+", 5};
    case BinaryOp::sub: return {"-", 5};
    case BinaryOp::mul: return {"*", 6};
    case BinaryOp::div: return {"/", 6};
    case BinaryOp::mod: return {"%", 6};
  }
  return {"", 0};
}

bool is_builtin(const std::string& monoid) {
  return monoid == "sum" || monoid == "prod" || monoid == "max" || monoid == "min" || monoid == "any" ||
         monoid == "all";
}

// If, let, built-in reductions and iterate extend as far right as possible.
bool reaches_right(const Expr& e) {
  auto* reduce = std::get_if<Reduce>(&e.node);
  return std::holds_alternative<If>(e.node) || std::holds_alternative<Let>(e.node) ||
         std::holds_alternative<Iterate>(e.node) || (reduce && is_builtin(reduce->monoid.text));
}

int level_of(const Expr& e) {
  if (auto* b = std::get_if<Binary>(&e.node)) return op_text(b->op).level;
  if (auto* u = std::get_if<Unary>(&e.node)) return u->op == UnaryOp::negate ? minus_level : not_level;
  if (auto* i = std::get_if<IntLiteral>(&e.node); i && i->negated) return minus_level;
  return postfix_level;
}

// Whether `.member` may follow it directly.
bool takes_member(const Expr& e) {
  return !std::holds_alternative<IntLiteral>(e.node) && !std::holds_alternative<FloatLiteral>(e.node) &&
         !std::holds_alternative<BoolLiteral>(e.node) && !std::holds_alternative<PackRef>(e.node);
}

// Whether it contains, outside brackets, something that is not allowed in <…>.
bool unfit_for_angles(const Module& m, ExprId id) {
  const Expr& e = m[id];
  if (reaches_right(e)) return true;
  if (auto* u = std::get_if<Unary>(&e.node)) return u->op == UnaryOp::logical_not || unfit_for_angles(m, u->operand);
  auto* b = std::get_if<Binary>(&e.node);
  return b &&
         (op_text(b->op).level <= comparison_level || unfit_for_angles(m, b->left) || unfit_for_angles(m, b->right));
}

}  // namespace

std::string ExprPrinter::whole(ExprId id, int indent) {
  std::swap(indent, indent_);
  std::string text = at_level(id, lowest_level, true);
  std::swap(indent, indent_);
  return text;
}

std::string ExprPrinter::list(const std::vector<ExprId>& ids, int indent) {
  return joined(ids, [&](ExprId id) { return whole(id, indent); });
}

std::string ExprPrinter::in_angles(ExprId id) {
  std::string text = whole(id, indent_);
  return unfit_for_angles(module_, id) ? "(" + text + ")" : text;
}

std::string ExprPrinter::range(ExprId low, ExprId high) {
  std::string text = whole(low, indent_) + "..";
  return text + whole(high, indent_);
}

std::string ExprPrinter::ranges(const std::vector<RangeVar>& vars) {
  return joined(vars, [&](const RangeVar& v) {
    std::string text = v.name.text + (v.pack ? ".." : "");
    return v.lo ? text + " in " + range(*v.lo, *v.hi) : text;
  });
}

std::string ExprPrinter::at_level(ExprId id, int level, bool tail) {
  const Expr& e = module_[id];
  bool parentheses = level_of(e) < level || (reaches_right(e) && (!tail || level == postfix_level)) ||
                     (level == postfix_level && !takes_member(e));
  std::string inner = std::visit([&](const auto& n) { return text(n, tail || parentheses); }, e.node);
  return parentheses ? "(" + inner + ")" : inner;
}

std::string ExprPrinter::text(const IntLiteral& n, bool) {
  return (n.negated ? "-" : "") + std::to_string(n.magnitude);
}
std::string ExprPrinter::text(const FloatLiteral& n, bool) { return n.text; }
std::string ExprPrinter::text(const BoolLiteral& n, bool) { return n.value ? "true" : "false"; }
std::string ExprPrinter::text(const NameRef& n, bool) { return n.name; }
std::string ExprPrinter::text(const PackRef& n, bool) { return n.name + ".."; }
std::string ExprPrinter::text(const LinearIndex& n, bool) { return "(" + n.pack + "..)"; }
std::string ExprPrinter::text(const Member& n, bool) {
  return at_level(n.object, postfix_level, false) + "." + n.member.text;
}
std::string ExprPrinter::text(const Tuple& n, bool) { return "(" + list(n.items, indent_) + ")"; }

std::string ExprPrinter::text(const Index& n, bool) {
  std::string text = n.base.text + "[" + list(n.indices, indent_);
  if (n.fill) text += (n.indices.empty() ? "else " : " else ") + whole(*n.fill, indent_);
  return text + "]";
}

std::string ExprPrinter::text(const Call& n, bool) {
  std::string text;
  for (const Name& part : n.callee) text += (text.empty() ? "" : ".") + part.text;
  if (n.has_params)
    text += "<" +
            joined(n.params,
                   [&](const ParamArg& p) {
                     return (p.name ? p.name->text + " = " : std::string()) + in_angles(p.value);
                   }) +
            ">";
  return text + "(" +
         joined(n.args,
                [&](const Arg& a) {
                  std::string value = whole(a.value, indent_);
                  return a.sharding ? value + sharding(*a.sharding) : value;
                }) +
         ")";
}

std::string ExprPrinter::text(const Unary& n, bool tail) {
  bool minus = n.op == UnaryOp::negate;
  return (minus ? "-" : "not ") + at_level(n.operand, minus ? minus_level : not_level, tail);
}

std::string ExprPrinter::text(const Binary& n, bool tail) {
  auto [op, level] = op_text(n.op);
  std::string left = at_level(n.left, level == comparison_level ? level + 1 : level, false);
  if (n.op == BinaryOp::less) after_less_ = true;
  std::string right = at_level(n.right, level + 1, tail);
  std::string all = left + " " + op + " " + right;
  return n.op == BinaryOp::greater && after_less_ && right[0] == '(' ? "(" + all + ")" : all;
}

std::string ExprPrinter::text(const If& n, bool) {
  std::string condition = whole(n.condition, indent_);
  std::string yes = whole(n.then_value, indent_);
  return "if " + condition + " then " + yes + " else " + whole(n.else_value, indent_);
}

std::string ExprPrinter::text(const Let& n, bool) {
  std::string bindings = joined(n.bindings, [&](const LetBinding& b) {
    return b.name.text + (b.index ? "[" + b.index->text + "]" : std::string()) + " = " + whole(b.value, indent_);
  });
  return "let " + bindings + " in " + whole(n.body, indent_);
}

std::string ExprPrinter::text(const Reduce& n, bool) {
  std::string head = n.monoid.text + "[" + ranges(n.vars) + "] ";
  return is_builtin(n.monoid.text) ? head + whole(n.operands[0], indent_)
                                   : head + "(" + list(n.operands, indent_) + ")";
}

// After `iterate`, a number or a name needs no parentheses.
std::string ExprPrinter::trip_count(ExprId high) {
  ExprId first = high;
  while (auto* b = std::get_if<Binary>(&module_[first].node)) {
    if (level_of(module_[b->left]) < op_text(b->op).level) break;
    first = b->left;
  }
  const Expr& e = module_[first];
  auto* integer = std::get_if<IntLiteral>(&e.node);
  bool plain = (integer && !integer->negated) || std::holds_alternative<NameRef>(e.node) ||
               std::holds_alternative<Index>(e.node) || std::holds_alternative<Call>(e.node);
  std::string text = whole(high, indent_);
  return plain ? text : "(" + text + ")";
}

std::string ExprPrinter::results(const std::vector<ExprId>& ids) {
  const Expr& first = module_[ids[0]];
  auto* reduce = std::get_if<Reduce>(&first.node);
  bool bare = ids.size() == 1 &&
              ((!reduce && reaches_right(first)) || (reduce && is_builtin(reduce->monoid.text)) ||
               std::holds_alternative<NameRef>(first.node) || std::holds_alternative<Index>(first.node) ||
               std::holds_alternative<Call>(first.node));
  std::string text = list(ids, indent_);
  return bare ? text : "(" + text + ")";
}

std::string ExprPrinter::text(const Iterate& n, bool) {
  std::string text = "iterate ";
  if (n.counter) {
    text += n.counter->text + " in " + range(n.lo, n.hi);
  } else {
    text += trip_count(n.hi);
  }
  text += " (" +
          joined(n.states, [&](const IterateState& s) { return s.name.text + " = " + whole(s.initial, indent_); }) +
          ") {\n";
  ++indent_;
  std::string margin(static_cast<std::size_t>(indent_) * 4, ' ');
  for (const Statement& s : n.body) text += margin + print_statement(module_, s, *this, indent_) + ";\n";
  begin_statement();
  text += margin + results(n.results) + "\n";
  --indent_;
  return text + margin.substr(4) + "}";
}

// ---- shardings

std::string ExprPrinter::axis(const AxisRef& axis) {
  return axis.sub ? fmt::format("{}:({}){}", axis.name.text, axis.sub->first, axis.sub->second) : axis.name.text;
}

std::string ExprPrinter::sharding(const Sharding& s) {
  std::string text = " @ " + s.mesh.text + "[" + joined(s.dims, [](const DimSharding& d) {
                       std::string axes = joined(d.axes, axis);
                       if (d.open) axes += axes.empty() ? "?" : ", ?";
                       return "{" + axes + "}" + (d.priority ? fmt::format("p{}", *d.priority) : std::string());
                     });
  if (!s.replicated.empty()) text += "; replicated {" + joined(s.replicated, axis) + "}";
  if (!s.unreduced.empty() || s.unreduced_monoid) text += "; unreduced {" + joined(s.unreduced, axis) + "}";
  if (s.unreduced_monoid) text += " by " + s.unreduced_monoid->text;
  return text + "]";
}

}  // namespace tap
