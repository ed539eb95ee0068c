#include "compiler/frontend/elaborate/sizes.h"

#include <algorithm>

#include "compiler/frontend/elaborate/foreign_types.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/syntax/builtins.h"
#include "support/checked.h"

namespace tap {
namespace {

// An int pack may contain any integers; as sizes they must be 0 or more.
void refuse_negative(Elaboration& elaboration, const Shape& sizes, Span span) {
  for (std::int64_t size : sizes)
    if (size < 0)
      elaboration.fail(Diagnostic(Code::bad_size, span,
                                  quoted(source_of(elaboration, span)) + " has the sizes " + to_string(sizes) +
                                      "; sizes must not be negative"));
}

// a - 1 for `(a - 1)`, a divisor
std::string without_parentheses(std::string text) {
  return text.starts_with('(') && text.ends_with(')') ? text.substr(1, text.size() - 2) : text;
}

// Evaluates with `Unbound` thrown internally, so that the recursion reads as arithmetic.
class SizeEvaluator {
 public:
  SizeEvaluator(Elaboration& elaboration, const Env& env) : elaboration_(elaboration), env_(env) {}

  std::int64_t value(ast::ExprId id) {
    const ast::Expr& expr = env_[id];
    try {
      return std::visit([&](const auto& node) { return of(node, expr); }, expr.node);
    } catch (const Overflow&) {
      elaboration_.fail(
          Diagnostic(Code::overflow, expr.span,
                     "the size " + quoted(source_of(elaboration_, expr.span)) + " does not fit in 64 bits"));
    }
  }

  bool condition(ast::ExprId id) {
    const ast::Expr& expr = env_[id];
    if (auto* b = std::get_if<ast::Binary>(&expr.node)) {
      switch (b->op) {
        case ast::BinaryOp::logical_and: return condition(b->left) && condition(b->right);
        case ast::BinaryOp::logical_or: return condition(b->left) || condition(b->right);
        case ast::BinaryOp::equal: return value(b->left) == value(b->right);
        case ast::BinaryOp::not_equal: return value(b->left) != value(b->right);
        case ast::BinaryOp::less: return value(b->left) < value(b->right);
        case ast::BinaryOp::less_equal: return value(b->left) <= value(b->right);
        case ast::BinaryOp::greater: return value(b->left) > value(b->right);
        case ast::BinaryOp::greater_equal: return value(b->left) >= value(b->right);
        default: break;
      }
    }
    if (auto* u = std::get_if<ast::Unary>(&expr.node); u && u->op == ast::UnaryOp::logical_not)
      return !condition(u->operand);
    if (auto* literal = std::get_if<ast::BoolLiteral>(&expr.node)) return literal->value;
    if (auto* name = std::get_if<ast::NameRef>(&expr.node))
      if (auto* parameter = env_.find_as<BoolEntity>(name->name)) return parameter->value;
    elaboration_.fail(Diagnostic(Code::type_mismatch, expr.span,
                                 "expected a condition on sizes; got " + quoted(source_of(elaboration_, expr.span))));
  }

 private:
  std::int64_t of(const ast::IntLiteral& literal, const ast::Expr&) {
    return literal.negated ? static_cast<std::int64_t>(0 - literal.magnitude)
                           : static_cast<std::int64_t>(literal.magnitude);
  }
  std::int64_t of(const ast::NameRef& name, const ast::Expr& expr) { return named(name.name, expr.span); }
  std::int64_t of(const ast::Unary& unary, const ast::Expr& expr) {
    if (unary.op != ast::UnaryOp::negate) not_a_size(expr);
    return checked::sub(0, value(unary.operand));
  }
  std::int64_t of(const ast::Binary& b, const ast::Expr& expr) {
    std::int64_t left = value(b.left);
    std::int64_t right = value(b.right);
    switch (b.op) {
      case ast::BinaryOp::add: return checked::add(left, right);
      case ast::BinaryOp::sub: return checked::sub(left, right);
      case ast::BinaryOp::mul: return checked::mul(left, right);
      case ast::BinaryOp::div:
      case ast::BinaryOp::mod:
        if (right <= 0)
          elaboration_.fail(Diagnostic(Code::bad_size, env_[b.right].span,
                                       "the divisor in a size must be positive; " +
                                           quoted(without_parentheses(source_of(elaboration_, env_[b.right].span))) +
                                           " is " + std::to_string(right)));
        return b.op == ast::BinaryOp::div ? checked::floor_div(left, right) : checked::floor_mod(left, right);
      default: not_a_size(expr);
    }
  }
  std::int64_t of(const ast::If& choice, const ast::Expr&) {
    return condition(choice.condition) ? value(choice.then_value) : value(choice.else_value);
  }
  std::int64_t of(const ast::Call& call, const ast::Expr& expr) {
    if (call.callee.size() == 1 && !call.has_params) {
      const std::string& f = call.callee[0].text;
      if ((f == "rank" || f == "size") && call.args.size() == 1) return of_pack(f == "rank", call.args[0].value);
      if ((f == "min" || f == "max") && call.args.size() == 2) {
        std::int64_t a = value(call.args[0].value), b = value(call.args[1].value);
        return f == "min" ? std::min(a, b) : std::max(a, b);
      }
    }
    not_a_size(expr);
  }
  // matmul.in, an operator's dim in the guard of a rewrite
  std::int64_t of(const ast::Member& member, const ast::Expr& expr) {
    auto* object = std::get_if<ast::NameRef>(&env_[member.object].node);
    auto* dim = object ? env_.find_as<DimEntity>(object->name + "." + member.member.text) : nullptr;
    if (!dim) not_a_size(expr);
    return dim->size;
  }
  template <class Other>
  std::int64_t of(const Other&, const ast::Expr& expr) {
    not_a_size(expr);
  }

  std::int64_t of_pack(bool rank, ast::ExprId argument) {
    const ast::Expr& expr = env_[argument];
    std::string name;
    if (auto* ref = std::get_if<ast::NameRef>(&expr.node)) name = ref->name;
    if (auto* ref = std::get_if<ast::PackRef>(&expr.node)) name = ref->name;
    if (auto* pack = env_.find_as<PackEntity>(name)) {
      if (rank) return static_cast<std::int64_t>(pack->sizes.size());
      refuse_negative(elaboration_, pack->sizes, expr.span);
      return element_count(pack->sizes);
    }
    if (auto* entity = env_.find(name); entity || name.empty())
      elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, expr.span,
                                   quoted(source_of(elaboration_, expr.span)) + " is not a pack of dims"));
    throw Unbound{name, expr.span};
  }

  std::int64_t named(const std::string& name, Span span) {
    if (auto* entity = env_.find(name)) {
      if (auto* dim = std::get_if<DimEntity>(entity)) return dim->size;
      if (auto* parameter = std::get_if<IntEntity>(entity)) return parameter->value;
      std::string message = quoted(name) + " is " + description(*entity) + ", not a size";
      if (std::holds_alternative<CounterEntity>(*entity))
        message = "the counter " + quoted(name) + " is not a compile-time constant";
      if (std::holds_alternative<PackEntity>(*entity))
        message = quoted(name) + " is a pack of dims, not one size; its element count is `size(" + name + ")`";
      elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, span, message));
    }
    throw Unbound{name, span};
  }

  [[noreturn]] void not_a_size(const ast::Expr& expr) {
    elaboration_.fail(Diagnostic(Code::bad_size, expr.span,
                                 quoted(source_of(elaboration_, expr.span)) +
                                     " is not a size: sizes consist of integers, dims, " +
                                     "parameters, + - * / %, rank() and size()"));
  }

  Elaboration& elaboration_;
  const Env& env_;
};

[[noreturn]] void report_unbound(Elaboration& elaboration, const Env& env, const Unbound& unbound) {
  std::vector<std::string> known;
  for (const Env* e = &env; e; e = e->parent)
    for (const auto& [name, entity] : e->names)
      if (std::holds_alternative<DimEntity>(entity) || std::holds_alternative<IntEntity>(entity) ||
          std::holds_alternative<PackEntity>(entity))
        known.push_back(name);
  std::sort(known.begin(), known.end());
  Diagnostic d(Code::dim_unbound, unbound.span, "the dim " + quoted(unbound.name) + " has no size");
  if (auto near = did_you_mean(unbound.name, known))
    d.help("did you mean " + quoted(*near) + "?").fix(unbound.span, *near);
  elaboration.fail(std::move(d));
}

}  // namespace

std::string source_of(const Elaboration& elaboration, Span span) {
  if (!span.valid()) return "";
  std::string text(elaboration.sources.text(span));
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::variant<std::int64_t, Unbound> try_size(Elaboration& elaboration, const Env& env, ast::ExprId expr) {
  try {
    return SizeEvaluator(elaboration, env).value(expr);
  } catch (const Unbound& unbound) { return unbound; }
}

std::int64_t eval_size(Elaboration& elaboration, const Env& env, ast::ExprId expr) {
  auto result = try_size(elaboration, env, expr);
  if (auto* unbound = std::get_if<Unbound>(&result)) report_unbound(elaboration, env, *unbound);
  return std::get<std::int64_t>(result);
}

std::variant<bool, Unbound> try_condition(Elaboration& elaboration, const Env& env, ast::ExprId expr) {
  try {
    return SizeEvaluator(elaboration, env).condition(expr);
  } catch (const Unbound& unbound) { return unbound; }
}

bool eval_condition(Elaboration& elaboration, const Env& env, ast::ExprId expr) {
  auto result = try_condition(elaboration, env, expr);
  if (auto* unbound = std::get_if<Unbound>(&result)) report_unbound(elaboration, env, *unbound);
  return std::get<bool>(result);
}

std::optional<ElementType> try_type(const Env& env, const std::string& name) {
  if (auto* generic = env.find_as<TypeEntity>(name)) return generic->type;
  return element_type_named(name);
}

ElementType eval_type(Elaboration& elaboration, const Env& env, const ast::Name& name) {
  if (auto type = try_type(env, name.text)) return *type;
  Diagnostic d(Code::unknown_name, name.span, "unknown element type " + quoted(name.text));
  offer_type(d, name.text, name.span);
  if (d.help_text.empty()) {
    std::string list;
    for (const std::string& type : type_names()) list += (list.empty() ? "" : ", ") + quoted(type);
    d.help("the element types are " + list);
  }
  elaboration.fail(std::move(d));
}

namespace {

// The pack of one `…..` item of a type.
const PackEntity& pack_named(Elaboration& elaboration, const Env& env, ast::ExprId id) {
  const ast::Expr& expr = env[id];
  std::string name;
  if (auto* ref = std::get_if<ast::PackRef>(&expr.node)) name = ref->name;
  if (auto* ref = std::get_if<ast::NameRef>(&expr.node)) name = ref->name;
  if (auto* pack = env.find_as<PackEntity>(name)) return *pack;
  if (env.find(name))
    elaboration.fail(Diagnostic(Code::wrong_kind_of_name, expr.span, quoted(name) + " is not a pack of dims"));
  throw Unbound{name, expr.span};
}

Shape broadcast_shape(Elaboration& elaboration, const Env& env, const ast::Call& call, Span span) {
  Shape result;
  for (const auto& arg : call.args) {
    const Shape& sizes = pack_named(elaboration, env, arg.value).sizes;
    Shape longer = sizes.size() > result.size() ? sizes : result;
    const Shape& shorter = sizes.size() > result.size() ? result : sizes;
    std::size_t shift = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
      std::int64_t& a = longer[shift + i];
      std::int64_t b = shorter[i];
      if (a != b && a != 1 && b != 1) {
        elaboration.fail(Diagnostic(Code::shape_mismatch, span,
                                    "shapes do not broadcast: " + to_string(result) + " and " + to_string(sizes) +
                                        " have " + std::to_string(a) + " and " + std::to_string(b) +
                                        " in one axis, and neither is 1"));
      }
      if (a == 1) a = b;
    }
    result = longer;
  }
  return result;
}

ShapeAndPattern shape_of(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type) {
  ShapeAndPattern result;
  for (const auto& item : type.dims) {
    if (item.pack) {
      const ast::Expr& expr = env[item.size];
      Shape sizes;
      bool broadcast = false;
      if (auto* call = std::get_if<ast::Call>(&expr.node)) {
        sizes = broadcast_shape(elaboration, env, *call, expr.span);
        broadcast = true;
      } else {
        sizes = pack_named(elaboration, env, item.size).sizes;
      }
      refuse_negative(elaboration, sizes, item.span);
      result.pattern.push_back({true, broadcast, sizes.size()});
      result.shape.insert(result.shape.end(), sizes.begin(), sizes.end());
      continue;
    }
    auto size = try_size(elaboration, env, item.size);
    if (auto* unbound = std::get_if<Unbound>(&size)) throw *unbound;
    std::int64_t n = std::get<std::int64_t>(size);
    if (n < 0)
      elaboration.fail(Diagnostic(Code::bad_size, item.span,
                                  "the size " + quoted(source_of(elaboration, item.span)) + " is " + std::to_string(n) +
                                      "; sizes must not be negative"));
    result.pattern.push_back({});
    result.shape.push_back(n);
  }
  try {
    element_count(result.shape);
  } catch (const Overflow&) {
    elaboration.fail(Diagnostic(Code::overflow, type.span,
                                "the element count of " + to_string(result.shape) + " overflows 64 bits"));
  }
  return result;
}

}  // namespace

ir::Range countable(Elaboration& elaboration, ir::Range range, Span span) {
  try {
    range.size();
  } catch (const Overflow&) {
    elaboration.fail(
        Diagnostic(Code::overflow, span, "the number of points of " + to_string(range) + " does not fit in 64 bits"));
  }
  return range;
}

std::variant<ShapeAndPattern, Unbound> try_shape(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type) {
  try {
    return shape_of(elaboration, env, type);
  } catch (const Unbound& unbound) { return unbound; }
}

ShapeAndPattern eval_shape(Elaboration& elaboration, const Env& env, const ast::TypeExpr& type) {
  auto result = try_shape(elaboration, env, type);
  if (auto* unbound = std::get_if<Unbound>(&result)) report_unbound(elaboration, env, *unbound);
  return std::get<ShapeAndPattern>(result);
}

}  // namespace tap
