// Classifies an index expression: affine in index variables, data-dependent, or neither.
#include <algorithm>

#include "compiler/frontend/cells/index_space.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/syntax/builtins.h"
#include "support/checked.h"

namespace tap {
namespace {

constexpr const char* from_the_other_side =
    "an affine left side can express this: `y[2*i + r] = x[i] for r in 0..2` repeats, "
    "`y[i, r] = x[2*i + r] for r in 0..2` splits";

class IndexClassifier {
 public:
  IndexClassifier(Elaboration& elaboration, IndexSpace& space) : elaboration_(elaboration), space_(space) {}

  IndexValue value(const Env& env, ast::ExprId id) {
    const ast::Expr& expr = env[id];
    try {
      return std::visit([&](const auto& node) { return of(env, node, expr); }, expr.node);
    } catch (const Overflow&) {
      elaboration_.fail(
          Diagnostic(Code::overflow, expr.span,
                     "the index " + quoted(source_of(elaboration_, expr.span)) + " does not fit in 64 bits"));
    }
  }

 private:
  static VarAffine constant(std::int64_t value) { return {{}, value}; }

  IndexValue of(const Env&, const ast::IntLiteral& literal, const ast::Expr&) {
    return constant(literal.negated ? static_cast<std::int64_t>(0 - literal.magnitude)
                                    : static_cast<std::int64_t>(literal.magnitude));
  }

  IndexValue of(const Env& env, const ast::NameRef& name, const ast::Expr& expr) {
    const Entity* entity = env.find(name.name);
    if (!entity) {
      Diagnostic d(Code::unknown_name, expr.span,
                   quoted(name.name) + " is not an index variable, dim or parameter here");
      if (auto near = did_you_mean(name.name, names_in(env)))
        d.help("did you mean " + quoted(*near) + "?").fix(expr.span, *near);
      else if (Span whole = space_.whole(); whole.valid() && whole.file == expr.span.file)
        d.help("write a sum over it: " + quoted("sum[" + name.name + "] " + source_of(elaboration_, whole)))
            .fix({whole.file, whole.begin, whole.begin}, "sum[" + name.name + "] ");
      elaboration_.fail(std::move(d));
    }
    if (auto* var = std::get_if<VarEntity>(entity)) return VarAffine{{{var->var, 1}}, 0};
    if (auto* dim = std::get_if<DimEntity>(entity)) return constant(dim->size);
    if (auto* parameter = std::get_if<IntEntity>(entity)) return constant(parameter->value);
    if (auto* counter = std::get_if<CounterEntity>(entity))
      return VarAffine{{{space_.counter(counter->depth, name.name, counter->trips, counter->span), 1}}, 0};
    if (auto* thunk = std::get_if<ThunkEntity>(entity)) return value_of(*thunk);
    if (auto* tensor = std::get_if<TensorEntity>(entity)) {
      if (tensor->poisoned) throw Abandoned{};
      elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, expr.span,
                                   quoted(name.name) + " is a tensor; read its cell as " +
                                       quoted(name.name + (tensor->type.shape.empty() ? "[]" : "[…]")))
                            .label(tensor->span, "defined here"));
    }
    elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, expr.span,
                                 quoted(name.name) + " is " + description(*entity) + ", not an index"));
  }

  // Memoised: `let a = i + i, b = a + a, c = b + b, …` would otherwise double at every link.
  IndexValue value_of(const ThunkEntity& thunk) {
    auto key = std::pair(thunk.expr.index(), thunk.env);
    if (auto known = values_.find(key); known != values_.end()) return known->second;
    IndexValue result = value(*thunk.env, thunk.expr);
    values_.emplace(key, result);
    return result;
  }

  IndexValue of(const Env& env, const ast::Unary& unary, const ast::Expr& expr) {
    if (unary.op != ast::UnaryOp::negate) return other(env, expr, "a condition");
    IndexValue inner = value(env, unary.operand);
    if (auto* affine = std::get_if<VarAffine>(&inner)) return scale(*affine, -1);
    return inner;
  }

  IndexValue of(const Env& env, const ast::Binary& b, const ast::Expr& expr) {
    IndexValue left = value(env, b.left), right = value(env, b.right);
    if (std::holds_alternative<NotAffine>(left)) return left;
    if (std::holds_alternative<NotAffine>(right)) return right;
    if (std::holds_alternative<DependsOnData>(left)) return left;
    if (std::holds_alternative<DependsOnData>(right)) return right;
    const VarAffine& x = std::get<VarAffine>(left);
    const VarAffine& y = std::get<VarAffine>(right);
    switch (b.op) {
      case ast::BinaryOp::add: return x + y;
      case ast::BinaryOp::sub: return x - y;
      case ast::BinaryOp::mul:
        if (x.is_constant()) return scale(y, x.offset);
        if (y.is_constant()) return scale(x, y.offset);
        return not_affine(env, expr, x, y, "");
      case ast::BinaryOp::div:
      case ast::BinaryOp::mod:
        if (x.is_constant() && y.is_constant() && y.offset > 0)
          return constant(b.op == ast::BinaryOp::div ? checked::floor_div(x.offset, y.offset)
                                                     : checked::floor_mod(x.offset, y.offset));
        return not_affine(env, expr, x, y, from_the_other_side);
      default: return other(env, expr, "a condition");
    }
  }

  // The name in this scope: a kernel's index dims have separate names.
  std::string name_of(const Env& env, VarId var) const {
    for (const Env* scope = &env; scope; scope = scope->parent)
      for (const auto& [name, entity] : scope->names)
        if (auto* bound = std::get_if<VarEntity>(&entity); bound && bound->var == var) return name;
    return space_[var].name;
  }

  NotAffine not_affine(const Env& env, const ast::Expr& expr, const VarAffine& x, const VarAffine& y,
                       std::string help) {
    std::vector<std::string> names;
    for (const auto* side : {&x, &y})
      for (const auto& [var, coefficient] : side->terms) {
        const std::string name = name_of(env, var);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
    return {expr.span,
            quoted(source_of(elaboration_, expr.span)) + " is not affine in " + list +
                ": an index is a sum of index variables times integer constants, plus a constant",
            std::move(help)};
  }

  IndexValue of(const Env& env, const ast::Call& call, const ast::Expr& expr) {
    if (call.callee.size() == 1) {
      const std::string& f = call.callee[0].text;
      if (f == "rank" || f == "size") return constant(eval_size(elaboration_, env, id_of(env, expr)));
      if (f == "i64" && call.args.size() == 1) return value(env, call.args[0].value);
      bool rounds = f == "floor" || f == "ceil" || f == "round";
      if (rounds && call.args.size() == 1)
        if (auto* b = std::get_if<ast::Binary>(&env[call.args[0].value].node); b && b->op == ast::BinaryOp::div)
          return other(env, expr, "a function call", from_the_other_side);
    }
    return other(env, expr, "a function call");
  }
  IndexValue of(const Env&, const ast::Member& member, const ast::Expr& expr) {
    (void)member;
    return NotAffine{expr.span, quoted(source_of(elaboration_, expr.span)) + " is not an index", ""};
  }
  IndexValue of(const Env& env, const ast::FloatLiteral&, const ast::Expr& expr) {
    return other(env, expr, "a float", "indices are integers");
  }
  IndexValue of(const Env& env, const ast::If&, const ast::Expr& expr) { return other(env, expr, "a conditional"); }
  template <class Node>
  IndexValue of(const Env& env, const Node&, const ast::Expr& expr) {
    return other(env, expr, "not a sum of index variables");
  }

  static ast::ExprId id_of(const Env& env, const ast::Expr& expr) {
    return ast::ExprId(static_cast<std::size_t>(&expr - env.module->exprs.data()));
  }

  // Anything else is a data-dependent coordinate if it reads a tensor, and an error if it does not.
  IndexValue other(const Env& env, const ast::Expr& expr, const char* what, const char* help = "") {
    if (auto span = read_in(env, expr)) return DependsOnData{*span};
    return NotAffine{expr.span,
                     quoted(source_of(elaboration_, expr.span)) + " is " + what + ", not affine in index variables",
                     help};
  }

  std::optional<Span> read_in(const Env& env, const ast::Expr& expr) {
    auto first = [&](std::initializer_list<ast::ExprId> ids) -> std::optional<Span> {
      for (ast::ExprId id : ids)
        if (auto span = read_in(env, env[id])) return span;
      return std::nullopt;
    };
    if (std::holds_alternative<ast::Index>(expr.node) || std::holds_alternative<ast::Reduce>(expr.node))
      return expr.span;
    if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
      if (auto* thunk = env.find_as<ThunkEntity>(name->name);
          thunk && env.find(name->name) && std::holds_alternative<ThunkEntity>(*env.find(name->name)))
        return reads(*thunk) ? std::optional<Span>(expr.span) : std::nullopt;
    }
    if (auto* unary = std::get_if<ast::Unary>(&expr.node)) return first({unary->operand});
    if (auto* binary = std::get_if<ast::Binary>(&expr.node)) return first({binary->left, binary->right});
    if (auto* choice = std::get_if<ast::If>(&expr.node))
      return first({choice->condition, choice->then_value, choice->else_value});
    if (auto* let = std::get_if<ast::Let>(&expr.node)) {
      for (const auto& binding : let->bindings)
        if (auto span = first({binding.value})) return span;
      return first({let->body});
    }
    if (auto* call = std::get_if<ast::Call>(&expr.node))
      for (const auto& arg : call->args)
        if (auto span = first({arg.value})) return span;
    return std::nullopt;
  }

  bool reads(const ThunkEntity& thunk) {
    auto key = std::pair(thunk.expr.index(), thunk.env);
    if (auto known = reads_.find(key); known != reads_.end()) return known->second;
    bool result = read_in(*thunk.env, (*thunk.env)[thunk.expr]).has_value();
    reads_.emplace(key, result);
    return result;
  }

  Elaboration& elaboration_;
  IndexSpace& space_;
  std::map<std::pair<std::size_t, const Env*>, IndexValue> values_;
  std::map<std::pair<std::size_t, const Env*>, bool> reads_;
};

}  // namespace

IndexValue IndexSpace::value_of(const Env& env, ast::ExprId expr) {
  return IndexClassifier(elaboration_, *this).value(env, expr);
}

}  // namespace tap
