#include "compiler/frontend/elaborate/monoids.h"

#include <algorithm>

#include "compiler/frontend/cells/cell_constants.h"
#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/elaborate/generics.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/proofs/laws.h"
#include "compiler/frontend/proofs/laws_text.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap {
namespace {

class MonoidBuilder {
 public:
  MonoidBuilder(Elaboration& elaboration, const ast::MonoidDecl& decl, Env env)
      : elaboration_(elaboration), decl_(decl), space_(elaboration, true), env_(std::move(env)) {}

  // The monoid; types() then has its components' declared types.
  ir::Monoid build() {
    monoid_.name = decl_.name.text;
    for (const auto& component : decl_.components) {
      for (const auto& other : decl_.components) {
        if (&other == &component) break;
        if (other.name.text == component.name.text)
          elaboration_.fail(Diagnostic(Code::duplicate_name, component.name.span,
                                       "the component " + quoted(component.name.text) + " is declared twice")
                                .label(other.name.span, "first declared here"));
      }
      ElementType type = eval_type(elaboration_, env_, component.type);
      monoid_.components.push_back({component.name.text, compute_type(type)});
      types_.push_back(type);
    }
    if (types_.empty())
      elaboration_.fail(Diagnostic(Code::bad_monoid, decl_.name.span, "a monoid must have at least one component"));
    for (auto& component : monoid_.components) typed_.push_back(component);
    for (std::size_t i = 0; i < types_.size(); ++i) typed_[i].type = types_[i];
    identity_and_combine();
    if (decl_.fold) fold();
    return std::move(monoid_);
  }
  const std::vector<ElementType>& types() const { return types_; }

 private:
  void identity_and_combine() {
    Frame frame(space_);
    CellElaborator cells(elaboration_, nullptr, space_, monoid_.name);
    monoid_.identity = cells.tuple(env_, decl_.identity, frame, types_, decl_.identity_span);
    for (ir::CellId& cell : monoid_.identity) {
      auto value = constant_value(frame.cells, cell);
      if (!value)
        elaboration_.fail(Diagnostic(Code::bad_monoid, env_[decl_.identity].span,
                                     "the identity of a monoid must be constant; got " +
                                         quoted(source_of(elaboration_, env_[decl_.identity].span))));
      if (frame.cells[cell].op != ir::CellOp::constant) cell = frame.cells.constant(*value);
    }
    if (decl_.left.text == decl_.right.text)
      elaboration_.fail(
          Diagnostic(Code::duplicate_name, decl_.right.span, "the two arguments of `combine` need different names")
              .label(decl_.left.span, "the first"));
    Env& scope = space_.new_scope(env_);
    auto n = static_cast<std::uint32_t>(types_.size());
    scope.names[decl_.left.text] = StateEntity{0, &typed_};
    scope.names[decl_.right.text] = StateEntity{n, &typed_};
    monoid_.combine = cells.tuple(scope, decl_.combine, frame, types_, decl_.combine_span);
    monoid_.exprs = frame.cells;
  }

  void fold() {
    const ast::MonoidFold& fold = *decl_.fold;
    if (fold.args.size() != types_.size())
      elaboration_.fail(Diagnostic(Code::bad_monoid, decl_.name.span,
                                   "the fold of " + quoted(monoid_.name) + " takes " + std::to_string(types_.size()) +
                                       " operands; got " + std::to_string(fold.args.size())));
    Frame frame(space_);
    CellElaborator cells(elaboration_, nullptr, space_, monoid_.name);
    cells.in_fold(fold.index.text);
    Env& scope = space_.new_scope(env_);
    for (std::size_t i = 0; i < types_.size(); ++i)
      scope.names[fold.args[i].text] = FoldOperandEntity{static_cast<std::uint32_t>(i), types_[i]};
    ir::Fold result;
    result.roots = cells.tuple(scope, fold.body, frame, types_, decl_.name.span);
    result.exprs = frame.cells;
    check_fold_roots(result);
    monoid_.fold = std::move(result);
  }

  // The results of a fold do not depend on its index.
  void check_fold_roots(const ir::Fold& fold) {
    std::vector<bool> varies(fold.exprs.size(), false);
    for (std::size_t i = 0; i < fold.exprs.size(); ++i) {
      const ir::CellNode& node = fold.exprs[ir::CellId(i)];
      varies[i] = node.op == ir::CellOp::argument;
      if (node.op == ir::CellOp::reduce) continue;
      for (ir::CellId arg : node.args) varies[i] = varies[i] || varies[arg.index()];
    }
    for (std::size_t i = 0; i < fold.roots.size(); ++i)
      if (varies[fold.roots[i].index()])
        elaboration_.fail(Diagnostic(Code::bad_monoid, env_[decl_.fold->body].span,
                                     "the component " + quoted(monoid_.components[i].name) +
                                         " of the fold still depends on " + quoted(decl_.fold->index.text) +
                                         "; reduce over it"));
  }

  Elaboration& elaboration_;
  const ast::MonoidDecl& decl_;
  IndexSpace space_;
  Env env_;
  ir::Monoid monoid_;
  std::vector<ElementType> types_;
  std::vector<ir::MonoidComponent> typed_;
};

// Checks that its generics have classes, and its classes generics, whatever its use.
void check_generics(Elaboration& elaboration, const ast::MonoidDecl& decl) {
  for (const auto& component : decl.components)
    if (!element_type_named(component.type.text) && !class_clause(decl.where, component.type.text))
      fail_without_where(elaboration, component.type, "the components");
  for (const auto& clause : decl.where) {
    class_of(elaboration, clause);
    if (std::none_of(decl.components.begin(), decl.components.end(),
                     [&](const auto& component) { return component.type.text == clause.type_name->text; }))
      elaboration.fail(Diagnostic(Code::unknown_name, clause.type_name->span,
                                  quoted(clause.type_name->text) + " is not the type of any component"));
  }
}

// Binds the generics of a monoid to the types of the given components.
class GenericBinder {
 public:
  GenericBinder(Elaboration& elaboration, const Definition& definition, Span use)
      : elaboration_(elaboration), decl_(*definition.as<ast::MonoidDecl>()), use_(use) {
    env_.module = definition.module;
    env_.scope = definition.scope;
  }

  Env bind(const std::vector<TypedComponent>& given) {
    for (std::size_t k = 0; k < decl_.components.size(); ++k)
      if (k < given.size() && given[k].type) component(decl_.components[k], *given[k].type, given[k].span);
    for (std::size_t k = 0; k < decl_.components.size(); ++k)
      if (k < given.size() && given[k].written_to && !try_type(env_, decl_.components[k].type.text))
        component(decl_.components[k], *given[k].written_to, given[k].span);
    for (const auto& component : decl_.components) must_be_bound(component);
    for (const auto& clause : decl_.where)
      check_class(elaboration_, env_, clause, decl_.name.text, "component", use_.valid() ? use_ : clause.span);
    return std::move(env_);
  }

 private:
  void component(const ast::MonoidComponent& component, ElementType actual, Span span) {
    const std::string& name = component.type.text;
    if (element_type_named(name)) return;  // the operand's type is checked where its cell is made
    auto* bound = env_.find_as<TypeEntity>(name);
    if (!bound) {
      env_.names[name] = TypeEntity{actual, span};
      return;
    }
    if (bound->type == actual) return;
    std::string expected(name_of(bound->type));
    Diagnostic d(Code::type_mismatch, span,
                 "the component " + quoted(component.name.text) + " of " + quoted(decl_.name.text) + " is " + expected +
                     "; got " + std::string(name_of(actual)));
    if (bound->span.valid()) d.label(bound->span, quoted(name) + " is " + expected + " because of this operand");
    bool truncates = is_float(actual) && is_integer(bound->type);
    if (truncates) d.help("make the other operand " + std::string(name_of(actual)) + ": an integer loses the fraction");
    if (span.valid() && !truncates && !is_bool(bound->type) && !is_bool(actual)) {
      std::string fix_text = expected + "(" + std::string(elaboration_.sources.text(span)) + ")";
      d.help("convert it: " + quoted(fix_text)).fix(span, fix_text);
    }
    if (span.valid() && is_bool(bound->type) && !is_bool(actual)) {
      std::string fix_text = std::string(elaboration_.sources.text(span)) + " != 0";
      d.help("compare it: " + quoted(fix_text)).fix(span, fix_text);
    }
    elaboration_.fail(std::move(d));
  }

  void must_be_bound(const ast::MonoidComponent& component) {
    const std::string& name = component.type.text;
    if (element_type_named(name) || env_.find_as<TypeEntity>(name)) return;
    elaboration_.fail(Diagnostic(Code::needs_cast, use_.valid() ? use_ : decl_.name.span,
                                 "the type " + quoted(name) + " of " + quoted(decl_.name.text) +
                                     " cannot be inferred from its operands")
                          .label(component.type.span, "declared here")
                          .help("give one of them a type, for example `f32(1)`"));
  }

  Elaboration& elaboration_;
  const ast::MonoidDecl& decl_;
  Span use_;
  Env env_;
};

std::string noun_of(const std::string& law) {
  return law == "associative" ? "associativity" : law == "commutative" ? "commutativity" : law;
}

// identity, associativity and commutativity
std::string listed_laws(const std::vector<std::string>& laws) {
  std::string text;
  for (std::size_t i = 0; i < laws.size(); ++i)
    text += (i == 0 ? "" : i + 1 == laws.size() ? " and " : ", ") + noun_of(laws[i]);
  return text;
}

// With --require-proof, a monoid that may not commute is combined in order; the other laws are required.
void report_assumed_laws(Elaboration& elaboration, ir::Monoid& monoid, const ast::MonoidDecl& decl,
                         const LawVerdict& verdict) {
  bool require_proof = elaboration.options.require_proof;
  std::vector<std::string> assumed;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // and the laws with each reason
  for (const LawDoubt& doubt : verdict.assumed) {
    if (require_proof && doubt.law == "commutative") {
      monoid.laws.commutative = ir::Law::unknown;
      continue;
    }
    assumed.push_back(doubt.law);
    if (doubt.why.empty()) continue;
    auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == doubt.why; });
    if (known == reasons.end()) reasons.push_back({doubt.why, {doubt.law}});
    else known->second.push_back(doubt.law);
  }
  if (assumed.empty()) return;
  const std::string laws = listed_laws(assumed), name = quoted(monoid.name);
  const bool one = assumed.size() == 1;
  const std::string tested = std::string(one ? "it is" : "they are") + " assumed after tests on samples";
  if (!require_proof) {
    Diagnostic d(Code::law_assumed, decl.name.span,
                 laws + " of " + name + (one ? " is" : " are") + " not proved; " + tested);
    for (const auto& [why, of] : reasons) d.note(of.size() == assumed.size() ? why : listed_laws(of) + ": " + why);
    return elaboration.report(std::move(d));
  }
  Diagnostic d(
      Code::law_needs_proof, decl.name.span,
      "cannot prove the " + laws + (one ? " law" : " laws") + " of " + name + "; `--require-proof` requires proofs");
  for (const auto& [why, of] : reasons)
    d.note("no proof of " + listed_laws(of) + ", because " +
           (why.starts_with(finite_values) ? why.substr(finite_values.size()) : why));
  elaboration.report(std::move(d).help("without `--require-proof` " + tested));
  throw Abandoned{};
}

void judge(Elaboration& elaboration, ir::Monoid& monoid, const ast::MonoidDecl& decl) {
  // Instances of one monoid often have equal laws: f16, bf16 and f32 all combine in f32.
  const LawVerdict& verdict = elaboration.laws().verdict(elaboration.program, monoid);
  monoid.laws = verdict.laws;
  for (const auto& broken : verdict.broken) {
    Diagnostic d(Code::law_broken, decl.name.span, broken_law_text(elaboration.program, monoid, broken));
    std::string at;
    for (const auto& [name, value] : broken.values) at += (at.empty() ? "" : ", ") + name + " = " + values_text(value);
    d.note("with " + at + ": " + sides_text(elaboration.program, monoid, broken));
    d.label(broken.law == "identity" ? decl.identity_span : decl.combine_span,
            broken.law == "identity" ? "this identity" : "combined here");
    elaboration.report(std::move(d));
  }
  if (!verdict.broken.empty()) throw Abandoned{};
  report_assumed_laws(elaboration, monoid, decl, verdict);
  if (auto builtin = differs_from_builtin_only_on_nan(elaboration.program, monoid))
    elaboration.report(Diagnostic(Code::monoid_nan_rule, decl.combine_span,
                                  quoted(monoid.name) + " is the built-in " + quoted(*builtin) +
                                      " except on NaN, where its result depends on the order")
                           .help("use the built-in " + quoted(*builtin) + ": it propagates NaN"));
}

}  // namespace

bool is_generic(const Definition& monoid) {
  const auto& components = monoid.as<ast::MonoidDecl>()->components;
  return std::any_of(components.begin(), components.end(),
                     [](const ast::MonoidComponent& c) { return !element_type_named(c.type.text); });
}

MonoidInstance monoid_of(Elaboration& elaboration, const Definition& definition,
                         const std::vector<TypedComponent>& given, Span use) {
  const auto& decl = *definition.as<ast::MonoidDecl>();
  auto [checked, fresh] = elaboration.monoids.try_emplace({definition.declaration, "its declaration"});
  if (fresh) {
    check_generics(elaboration, decl);
    checked->second = MonoidInstance{};
  }
  if (!checked->second) throw Abandoned{};
  Env env = GenericBinder(elaboration, definition, use).bind(given);
  std::string binding;
  for (const auto& component : decl.components)
    if (auto type = try_type(env, component.type.text)) binding += std::string(name_of(*type)) + ";";
  auto key = std::pair(definition.declaration, binding);
  if (auto known = elaboration.monoids.find(key); known != elaboration.monoids.end()) {
    if (!known->second) throw Abandoned{};
    return *known->second;
  }
  elaboration.monoids[key] = std::nullopt;
  elaboration.instantiated.insert(definition.declaration);
  MonoidBuilder builder(elaboration, decl, std::move(env));
  ir::Monoid monoid = builder.build();
  judge(elaboration, monoid, decl);
  MonoidInstance instance{elaboration.interner.add(std::move(monoid)), builder.types()};
  elaboration.monoids[key] = instance;
  return instance;
}

void try_monoid(Elaboration& elaboration, const Definition& definition) {
  const auto& decl = *definition.as<ast::MonoidDecl>();
  for (ElementType type : {ElementType::f32, ElementType::i32}) {
    bool fits = type == ElementType::f32 && !is_generic(definition);
    std::vector<TypedComponent> given;
    for (const auto& component : decl.components) {
      const auto* clause = class_clause(decl.where, component.type.text);
      bool takes = clause && belongs_to(type, class_of(elaboration, *clause));
      fits = fits || takes || (!clause && type == ElementType::f32);
      ElementType other = type == ElementType::f32 ? ElementType::i32 : ElementType::f32;
      given.push_back({takes ? type : other, {}});
    }
    if (fits) monoid_of(elaboration, definition, given, {});
  }
}

std::optional<ir::MonoidId> builtin_monoid_of(Elaboration& elaboration, const std::string& name, ElementType type) {
  auto key = std::pair(name, compute_type(type));
  if (auto known = elaboration.builtin_monoids.find(key); known != elaboration.builtin_monoids.end())
    return known->second;
  auto monoid = ir::builtin_monoid(name, compute_type(type));
  if (!monoid) return std::nullopt;
  ir::MonoidId id = elaboration.interner.add(std::move(*monoid));
  elaboration.builtin_monoids[key] = id;
  return id;
}

}  // namespace tap
