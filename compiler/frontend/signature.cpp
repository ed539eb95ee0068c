#include "compiler/frontend/signature.h"

#include <functional>

#include "compiler/frontend/builtins.h"
#include "compiler/frontend/sizes.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap {

Signature signature_of(const Definition& definition) {
  if (auto* op = definition.as<ast::OpDecl>()) return {op->name, op->params, op->inputs, op->results, op->where};
  auto* outside = definition.as<ast::ExternDecl>();
  TAP_CHECK(outside, "an operator's definition");
  return {outside->name, outside->params, outside->inputs, outside->results, outside->where};
}

// ---- <…> parameters -------------------------------------------------------------------------------------------------
namespace {

void bind_param(Session& session, Env& callee, const ast::Param& param, const Env& from, ast::ExprId value) {
  Span span = from[value].span;
  const std::string& kind = param.kind.text;
  if (kind == "int") {
    callee.names[param.name.text] = IntEntity{eval_size(session, from, value), span};
  } else if (kind == "float") {
    callee.names[param.name.text] = FloatEntity{eval_float(session, from, value), span};
  } else if (kind == "bool") {
    callee.names[param.name.text] = BoolEntity{eval_condition(session, from, value), span};
  } else if (kind == "type") {
    auto* name = std::get_if<ast::NameRef>(&from[value].node);
    if (!name)
      session.fail(Diagnostic(Code::bad_parameter, span,
                              "the parameter " + quoted(param.name.text) + " is a type, for example `f32`; got " +
                                  quoted(source_of(session, span))));
    callee.names[param.name.text] = TypeEntity{eval_type(session, from, {name->name, span}), span};
  } else {
    session.fail(Diagnostic(Code::bad_parameter, param.kind.span,
                            "parameters are of kind int, float, bool or type; got " + quoted(kind)));
  }
}

// The pack of dims that a positional argument like `e..` passes on, if it is one.
const PackEntity* passed_pack(const Env& env, ast::ExprId value) {
  auto* ref = std::get_if<ast::PackRef>(&env[value].node);
  return ref ? env.find_as<PackEntity>(ref->name) : nullptr;
}

void bind_params(Session& session, Env& callee, const Signature& signature, const Env& caller,
                 const std::vector<ast::ParamArg>& given, Span call_span) {
  std::vector<const ast::ParamArg*> positional;
  std::unordered_map<std::string, const ast::ParamArg*> named;
  for (const auto& arg : given) {
    if (!arg.name) {
      positional.push_back(&arg);
      continue;
    }
    bool known = false;
    for (const auto& param : signature.params) known |= param.name.text == arg.name->text;
    if (!known) {
      std::vector<std::string> names;
      for (const auto& param : signature.params) names.push_back(param.name.text);
      Diagnostic d(Code::bad_parameter, arg.name->span,
                   quoted(signature.name.text) + " has no parameter " + quoted(arg.name->text));
      if (auto near = did_you_mean(arg.name->text, names))
        d.help("did you mean " + quoted(*near) + "?").fix(arg.name->span, *near);
      session.fail(std::move(d));
    }
    if (!named.emplace(arg.name->text, &arg).second)
      session.fail(Diagnostic(Code::bad_parameter, arg.name->span,
                              "the parameter " + quoted(arg.name->text) + " is given twice"));
  }
  std::size_t next = 0;
  for (const auto& param : signature.params) {
    auto by_name = named.find(param.name.text);
    if (param.pack) {
      PackEntity pack{{}, call_span};
      while (by_name == named.end() && next < positional.size()) {
        ast::ExprId value = positional[next++]->value;
        if (auto* passed = passed_pack(caller, value))
          pack.sizes.insert(pack.sizes.end(), passed->sizes.begin(), passed->sizes.end());
        else pack.sizes.push_back(eval_size(session, caller, value));
      }
      if (by_name != named.end()) {
        if (auto* passed = passed_pack(caller, by_name->second->value)) pack.sizes = passed->sizes;
        else pack.sizes.push_back(eval_size(session, caller, by_name->second->value));
      }
      callee.names[param.name.text] = std::move(pack);
    } else if (by_name != named.end()) {
      bind_param(session, callee, param, caller, by_name->second->value);
    } else if (next < positional.size()) {
      bind_param(session, callee, param, caller, positional[next++]->value);
    } else if (param.default_value) {
      bind_param(session, callee, param, callee, *param.default_value);
    } else {
      session.fail(Diagnostic(Code::bad_parameter, call_span,
                              quoted(signature.name.text) + " needs its parameter " + quoted(param.name.text) + " (" +
                                  param.kind.text + ")")
                       .label(param.name.span, "declared here, without a default")
                       .help("write " + quoted(signature.name.text + "<" + param.name.text + " = …>(…)")));
    }
  }
  if (next < positional.size())
    session.fail(Diagnostic(Code::bad_parameter, caller[positional[next]->value].span,
                            quoted(signature.name.text) + " has " + std::to_string(signature.params.size()) +
                                " parameters; got " + std::to_string(positional.size())));
}

// ---- element types --------------------------------------------------------------------------------------------------

std::optional<TypeClass> type_class_named(std::string_view name) {
  if (name == "number") return TypeClass::number;
  if (name == "float") return TypeClass::floating;
  if (name == "int") return TypeClass::integer;
  return std::nullopt;
}

const ast::WhereClause* class_clause(const Signature& signature, const std::string& generic) {
  for (const auto& clause : signature.where)
    if (clause.type_name && clause.type_name->text == generic) return &clause;
  return nullptr;
}

void bind_element(Session& session, Env& callee, const Signature& signature, const ast::TensorParam& input,
                  const GivenTensor& given) {
  const ast::Name& element = input.type.element;
  ElementType actual = given.type.element;
  std::optional<ElementType> wanted = try_type(callee, element.text);
  if (!wanted) {
    if (!class_clause(signature, element.text))
      session.fail(Diagnostic(Code::generic_without_where, element.span,
                              quoted(element.text) + " is not a built-in type; a generic type needs a `where`")
                       .help("add `where " + element.text + ": number` after the results"));
    callee.names[element.text] = TypeEntity{actual, given.span};
    return;
  }
  if (*wanted == actual) return;
  Diagnostic d(Code::type_mismatch, given.span,
               "the argument " + quoted(input.name.text) + " of " + quoted(signature.name.text) + " is " +
                   std::string(name_of(*wanted)) + "; got " + std::string(name_of(actual)));
  if (auto* generic = callee.find_as<TypeEntity>(element.text))
    d.label(generic->span, quoted(element.text) + " is " + std::string(name_of(*wanted)) + " from here");
  else d.label(element.span, "declared here");
  std::string source = source_of(session, given.span);
  d.help("convert it: " + quoted(std::string(name_of(*wanted)) + "(" + source + ")"));
  if (given.span.valid() && source == session.sources.text(given.span))
    d.fix(given.span, std::string(name_of(*wanted)) + "(" + source + ")");
  session.fail(std::move(d));
}

void check_where(Session& session, const Env& callee, const Signature& signature, Span call_span) {
  for (const auto& clause : signature.where) {
    if (clause.type_name) {
      auto wanted = type_class_named(clause.type_class->text);
      if (!wanted)
        session.fail(Diagnostic(
            Code::unknown_name, clause.type_class->span,
            "there is no class of types " + quoted(clause.type_class->text) + "; they are number, float and int"));
      auto type = try_type(callee, clause.type_name->text);
      if (!type)
        session.fail(Diagnostic(Code::unknown_name, clause.type_name->span,
                                "the generic " + quoted(clause.type_name->text) + " is not the type of any input"));
      if (!belongs_to(*type, *wanted))
        session.fail(Diagnostic(Code::condition_not_met, call_span,
                                quoted(signature.name.text) + " needs " + clause.type_name->text + ": " +
                                    clause.type_class->text + "; got " + std::string(name_of(*type)))
                         .label(clause.span, "asked for here"));
    } else if (clause.condition && !eval_condition(session, callee, *clause.condition)) {
      Diagnostic d(
          Code::condition_not_met, call_span,
          quoted(signature.name.text) + " needs " + quoted(source_of(session, clause.span)) + ", which does not hold");
      d.label(clause.span, "asked for here");
      for (const auto& [name, entity] : std::map<std::string, Entity>(callee.names.begin(), callee.names.end())) {
        if (auto* dim = std::get_if<DimEntity>(&entity)) d.note(name + " = " + std::to_string(dim->size));
        if (auto* parameter = std::get_if<IntEntity>(&entity)) d.note(name + " = " + std::to_string(parameter->value));
        if (auto* pack = std::get_if<PackEntity>(&entity)) d.note(name + ".. = " + to_string(pack->sizes));
      }
      session.fail(std::move(d));
    }
  }
}

// ---- shapes ---------------------------------------------------------------------------------------------------------

class Unifier {
 public:
  Unifier(Session& session, Env& env, const std::vector<ast::WhereClause>& where, const std::string& callee)
      : session_(session), env_(env), where_(where), callee_(callee) {}

  void run(std::vector<ShapeEquation> open) {
    while (!open.empty()) {
      std::vector<ShapeEquation> later;
      for (auto& equation : open)
        if (!try_bind(equation)) later.push_back(equation);
      if (later.size() == open.size()) { later = decide_packs(std::move(later)); }
      open = std::move(later);
    }
  }

 private:
  static std::string text(const ast::TypeExpr& type, Session& session) { return source_of(session, type.span); }

  // The rank of a pack item if it is known by now.
  std::optional<std::size_t> known_rank(const ast::DimItem& item) {
    ast::TypeExpr lone{{}, {item}, item.span};
    auto shape = try_shape(session_, env_, lone);
    if (auto* known = std::get_if<ShapeAndPattern>(&shape)) return known->shape.size();
    return std::nullopt;
  }

  [[noreturn]] void rank_mismatch(const ShapeEquation& e, std::size_t least, bool more) {
    session_.fail(Diagnostic(Code::rank_mismatch, e.span,
                             e.what + " has " + std::to_string(e.shape.size()) + " dims, " + to_string(e.shape) +
                                 "; wanted " + std::to_string(least) + (more ? " or more" : "") + ", " +
                                 quoted(text(*e.type, session_)))
                      .label(e.type->span, "declared here"));
  }

  // Binds what it can. False if several packs have unknown ranks, or a size still depends on something unbound.
  bool try_bind(const ShapeEquation& e) {
    std::size_t known = 0;
    std::vector<std::optional<std::size_t>> ranks;
    std::size_t unknown = 0;
    for (const auto& item : e.type->dims) {
      std::optional<std::size_t> rank = item.pack ? known_rank(item) : std::optional<std::size_t>(1);
      ranks.push_back(rank);
      if (rank) known += *rank;
      else ++unknown;
    }
    if (known > e.shape.size() || (unknown == 0 && known != e.shape.size())) rank_mismatch(e, known, unknown > 0);
    if (unknown > 1) return false;
    std::vector<std::size_t> sizes;
    for (const auto& rank : ranks) sizes.push_back(rank ? *rank : e.shape.size() - known);
    return assign(e, sizes);
  }

  bool assign(const ShapeEquation& e, const std::vector<std::size_t>& ranks) {
    std::size_t at = 0;
    bool complete = true;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const ast::DimItem& item = e.type->dims[i];
      if (item.pack) {
        complete &= assign_pack(e, item, Shape(e.shape.begin() + at, e.shape.begin() + at + ranks[i]));
      } else {
        complete &= assign_size(e, item, at);
      }
      at += ranks[i];
    }
    return complete;
  }

  bool assign_pack(const ShapeEquation& e, const ast::DimItem& item, Shape part) {
    if (auto* ref = std::get_if<ast::PackRef>(&env_[item.size].node)) {
      auto* bound = env_.find_as<PackEntity>(ref->name);
      if (!bound) {
        env_.names[ref->name] = PackEntity{std::move(part), e.span};
        sources_[ref->name] = e.what;
        return true;
      }
      if (bound->sizes == part) return true;
      disagree(e, ref->name + "..", to_string(bound->sizes), to_string(part), bound->span, sources_[ref->name]);
    }
    ast::TypeExpr lone{{}, {item}, item.span};
    auto shape = try_shape(session_, env_, lone);
    auto* known = std::get_if<ShapeAndPattern>(&shape);
    if (!known) return false;
    if (known->shape == part) return true;
    disagree(e, source_of(session_, item.span), to_string(known->shape), to_string(part), item.span, "");
  }

  bool assign_size(const ShapeEquation& e, const ast::DimItem& item, std::size_t at) {
    std::int64_t actual = e.shape[at];
    if (auto* name = std::get_if<ast::NameRef>(&env_[item.size].node); name && !env_.find(name->name)) {
      env_.names[name->name] = DimEntity{actual, e.span};
      sources_[name->name] = e.what;
      return true;
    }
    auto size = try_size(session_, env_, item.size);
    if (auto* unbound = std::get_if<Unbound>(&size)) return solve(e, item, *unbound, actual);
    std::int64_t wanted = std::get<std::int64_t>(size);
    if (wanted == actual) return true;
    if (auto* name = std::get_if<ast::NameRef>(&env_[item.size].node)) {
      if (auto* dim = env_.find_as<DimEntity>(name->name))
        disagree(e, name->name, std::to_string(wanted), std::to_string(actual), dim->span, sources_[name->name]);
    }
    session_.fail(Diagnostic(Code::shape_mismatch, e.span,
                             e.what + " has shape " + to_string(e.shape) + "; wanted " +
                                 quoted(source_of(session_, item.span)) + " = " + std::to_string(wanted) + " at axis " +
                                 std::to_string(at))
                      .label(item.span, "declared here"));
  }

  [[noreturn]] void disagree(const ShapeEquation& e, const std::string& name, const std::string& before,
                             const std::string& now, Span where, const std::string& source) {
    Diagnostic d(Code::shape_mismatch, e.span,
                 e.what + " has shape " + to_string(e.shape) + ", so " + quoted(name) + " would be " + now +
                     "; it is " + before + (source.empty() ? "" : " by " + source));
    d.label(where, quoted(name) + " is " + before + " here");
    d.label(e.type->span, "declared here");
    session_.fail(std::move(d));
  }

  // 2*n + 1 = 7  gives  n = 3. Only where the size is affine in one unbound dim; false if another must be bound first.
  bool solve(const ShapeEquation& e, const ast::DimItem& item, const Unbound& unbound, std::int64_t actual) {
    auto at = [&](std::int64_t x) -> std::optional<std::int64_t> {
      Env probe = Env::inside(env_);
      probe.names[unbound.name] = DimEntity{x, unbound.span};
      auto value = try_size(session_, probe, item.size);
      if (auto* v = std::get_if<std::int64_t>(&value)) return *v;
      return std::nullopt;
    };
    auto zero = at(0), one = at(1);
    if (!zero || !one) return stuck(e, item, unbound);
    std::int64_t slope = checked::sub(*one, *zero);
    std::string equation = quoted(source_of(session_, item.span) + " = " + std::to_string(actual));
    if (slope == 0 || *at(2) != *zero + 2 * slope || *at(7) != *zero + 7 * slope)
      session_.fail(Diagnostic(Code::dim_not_solvable, item.span,
                               "the dim " + quoted(unbound.name) + " cannot be found from " + equation +
                                   ": solve it by hand and give it as a parameter or as a dim of its own")
                        .label(e.span, e.what + " has shape " + to_string(e.shape)));
    std::int64_t rest = checked::sub(actual, *zero);
    if (rest % slope != 0 || rest / slope < 0)
      session_.fail(Diagnostic(Code::dim_not_solvable, e.span,
                               equation + " has no whole, non-negative solution for " + quoted(unbound.name) +
                                   (rest % slope != 0
                                        ? " (it would be " + std::to_string(rest) + "/" + std::to_string(slope) + ")"
                                        : " (it would be " + std::to_string(rest / slope) + ")"))
                        .label(item.span, "this size"));
    env_.names[unbound.name] = DimEntity{rest / slope, e.span};
    sources_[unbound.name] = e.what;
    return true;
  }

  bool stuck(const ShapeEquation& e, const ast::DimItem& item, const Unbound& unbound) {
    if (++stuck_ > 64)
      session_.fail(Diagnostic(Code::dim_not_solvable, item.span,
                               "the size " + quoted(source_of(session_, item.span)) +
                                   " holds several dims without a size, among them " + quoted(unbound.name))
                        .label(e.span, e.what + " has shape " + to_string(e.shape)));
    return false;
  }

  // Ranks of packs that shapes alone leave open: the only split that meets the conditions.
  std::vector<ShapeEquation> decide_packs(std::vector<ShapeEquation> open) {
    const ShapeEquation e = open.front();
    std::vector<std::vector<std::size_t>> fitting, all;
    enumerate(e, [&](const std::vector<std::size_t>& ranks) {
      all.push_back(ranks);
      if (meets_conditions(e, ranks)) fitting.push_back(ranks);
    });
    if (fitting.size() != 1) {
      bool none = fitting.empty();
      Diagnostic d(none ? Code::condition_not_met : Code::pack_ambiguous, e.span,
                   e.what + " has shape " + to_string(e.shape) + ", which " +
                       (none ? "no split into " + quoted(text(*e.type, session_)) + " makes meet the conditions of " +
                                   quoted(callee_)
                             : "can be split into " + quoted(text(*e.type, session_)) + " in " +
                                   std::to_string(fitting.size()) + " ways"));
      d.label(e.type->span, "declared here");
      for (const auto& clause : where_)
        if (clause.condition) d.label(clause.span, none ? "asked for here" : "does not decide it");
      session_.fail(std::move(d));
    }
    if (!assign(e, fitting.front())) return open;  // packs are bound now, a size is still open
    open.erase(open.begin());
    return open;
  }

  template <class Visit>
  void enumerate(const ShapeEquation& e, Visit visit) {
    std::vector<std::size_t> ranks(e.type->dims.size(), 1);
    std::function<void(std::size_t, std::size_t)> place = [&](std::size_t i, std::size_t left) {
      if (i == ranks.size()) {
        if (left == 0) visit(ranks);
        return;
      }
      const ast::DimItem& item = e.type->dims[i];
      std::optional<std::size_t> fixed = item.pack ? known_rank(item) : std::optional<std::size_t>(1);
      for (std::size_t r = fixed ? *fixed : 0; r <= (fixed ? *fixed : left); ++r) {
        if (r > left) break;
        ranks[i] = r;
        place(i + 1, left - r);
      }
    };
    place(0, e.shape.size());
  }

  bool meets_conditions(const ShapeEquation& e, const std::vector<std::size_t>& ranks) {
    Env probe = Env::inside(env_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      auto* ref = std::get_if<ast::PackRef>(&env_[e.type->dims[i].size].node);
      if (ref && !env_.find(ref->name)) {
        Shape part(e.shape.begin() + at, e.shape.begin() + at + ranks[i]);
        if (auto* twice = probe.find_as<PackEntity>(ref->name); twice && twice->sizes != part) return false;
        probe.names[ref->name] = PackEntity{std::move(part), e.span};
      }
      at += ranks[i];
    }
    for (const auto& clause : where_) {
      if (!clause.condition) continue;
      auto holds = try_condition(session_, probe, *clause.condition);
      if (auto* decided = std::get_if<bool>(&holds); decided && !*decided) return false;
    }
    return true;
  }

  Session& session_;
  Env& env_;
  const std::vector<ast::WhereClause>& where_;
  const std::string& callee_;
  std::map<std::string, std::string> sources_;  // which argument bound a dim
  int stuck_ = 0;
};

}  // namespace

void unify_shapes(Session& session, Env& env, std::vector<ShapeEquation> equations,
                  const std::vector<ast::WhereClause>& where, const std::string& callee) {
  Unifier(session, env, where, callee).run(std::move(equations));
}

void bind_signature(Session& session, Env& callee, const Signature& signature, const Env& caller,
                    const std::vector<ast::ParamArg>& params, const std::vector<GivenTensor>& given, Span call_span) {
  if (given.size() != signature.inputs.size())
    session.fail(Diagnostic(Code::wrong_argument_count, call_span,
                            quoted(signature.name.text) + " takes " + std::to_string(signature.inputs.size()) +
                                " arguments; got " + std::to_string(given.size()))
                     .label(signature.name.span, "declared here"));
  bind_params(session, callee, signature, caller, params, call_span);
  std::vector<ShapeEquation> equations;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const ast::TensorParam& input = signature.inputs[i];
    bind_element(session, callee, signature, input, given[i]);
    equations.push_back({&input.type, given[i].type.shape, "argument " + quoted(input.name.text), given[i].span});
  }
  unify_shapes(session, callee, std::move(equations), signature.where, signature.name.text);
  check_where(session, callee, signature, call_span);
}

}  // namespace tap
