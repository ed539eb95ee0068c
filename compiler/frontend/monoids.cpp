#include "compiler/frontend/monoids.h"

#include "compiler/frontend/builtins.h"
#include "compiler/frontend/cells.h"
#include "compiler/frontend/laws.h"
#include "compiler/frontend/sizes.h"
#include "support/check.h"

namespace tap {
namespace {

class MonoidBuilder {
 public:
  MonoidBuilder(Session& session, const Definition& definition)
      : session_(session), decl_(*definition.as<ast::MonoidDecl>()), space_(session, true) {
    env_.module = definition.module;
    env_.scope = definition.scope;
  }

  ir::Monoid build() {
    monoid_.name = decl_.name.text;
    for (const auto& component : decl_.components) {
      for (const auto& other : decl_.components) {
        if (&other == &component) break;
        if (other.name.text == component.name.text)
          session_.fail(Diagnostic(Code::duplicate_name, component.name.span,
                                   "the component " + quoted(component.name.text) + " is declared twice")
                            .label(other.name.span, "first declared here"));
      }
      ElementType type = eval_type(session_, env_, component.type);
      monoid_.components.push_back({component.name.text, compute_type(type)});
      types_.push_back(type);
    }
    if (types_.empty())
      session_.fail(Diagnostic(Code::bad_monoid, decl_.name.span, "a monoid has at least one component"));
    for (auto& component : monoid_.components) typed_.push_back(component);
    for (std::size_t i = 0; i < types_.size(); ++i) typed_[i].type = types_[i];
    identity_and_combine();
    if (decl_.fold) fold();
    return std::move(monoid_);
  }

 private:
  void identity_and_combine() {
    Frame frame(space_);
    CellElaborator cells(session_, nullptr, space_, monoid_.name);
    monoid_.identity = cells.tuple(env_, decl_.identity, frame, types_, decl_.identity_span);
    for (ir::CellId& cell : monoid_.identity) {
      const ir::CellNode& node = frame.cells[cell];
      if (node.op != ir::CellOp::constant)
        session_.fail(Diagnostic(
            Code::bad_monoid, env_[decl_.identity].span,
            "the identity of a monoid is constant; got " + quoted(source_of(session_, env_[decl_.identity].span))));
    }
    if (decl_.left.text == decl_.right.text)
      session_.fail(Diagnostic(Code::duplicate_name, decl_.right.span, "the two arguments of `combine` need two names")
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
      session_.fail(Diagnostic(Code::bad_monoid, decl_.name.span,
                               "the fold of " + quoted(monoid_.name) + " takes " + std::to_string(types_.size()) +
                                   " operands; got " + std::to_string(fold.args.size())));
    Frame frame(space_);
    CellElaborator cells(session_, nullptr, space_, monoid_.name);
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
        session_.fail(Diagnostic(Code::bad_monoid, env_[decl_.fold->body].span,
                                 "the component " + quoted(monoid_.components[i].name) +
                                     " of the fold still depends on " + quoted(decl_.fold->index.text) +
                                     "; reduce over it"));
  }

  Session& session_;
  const ast::MonoidDecl& decl_;
  IndexSpace space_;
  Env env_;
  ir::Monoid monoid_;
  std::vector<ElementType> types_;
  std::vector<ir::MonoidComponent> typed_;
};

std::string values_text(const std::vector<ir::Scalar>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + to_string(value);
  return values.size() == 1 ? text : "(" + text + ")";
}

void judge(Session& session, ir::Monoid& monoid, const ast::MonoidDecl& decl) {
  LawVerdict verdict = check_laws(session.program, monoid);
  monoid.laws = verdict.laws;
  for (const auto& broken : verdict.broken) {
    Diagnostic d(Code::law_broken, decl.name.span,
                 "the monoid " + quoted(monoid.name) + " breaks the law of " +
                     (broken.law == "associative" ? "associativity"
                      : broken.law == "identity"  ? "its identity"
                                                  : broken.law));
    std::string at;
    for (const auto& [name, value] : broken.values) at += (at.empty() ? "" : ", ") + name + " = " + values_text(value);
    d.note("with " + at + ": one side gives " + values_text(broken.left) + ", the other " + values_text(broken.right));
    d.label(broken.law == "identity" ? decl.identity_span : decl.combine_span,
            broken.law == "identity" ? "this identity" : "combined here");
    session.report(std::move(d));
  }
  if (!verdict.broken.empty()) throw Abandoned{};
  std::string assumed;
  auto ask = [&](ir::Law law, const char* name) {
    if (law == ir::Law::assumed) assumed += (assumed.empty() ? "" : ", ") + std::string(name);
  };
  ask(monoid.laws.associative, "associative");
  ask(monoid.laws.identity, "identity");
  ask(monoid.laws.fold, "fold");
  if (!assumed.empty()) {
    bool refuse = session.options.require_proof;
    session.report(
        Diagnostic(refuse ? Code::law_needs_proof : Code::law_assumed, decl.name.span,
                   "laws of " + quoted(monoid.name) + " are not proved but assumed, after sampling: " + assumed));
    if (refuse) throw Abandoned{};
  }
  if (auto builtin = differs_from_builtin_only_on_nan(session.program, monoid))
    session.report(Diagnostic(Code::monoid_nan_rule, decl.combine_span,
                              quoted(monoid.name) + " is the built-in " + quoted(*builtin) +
                                  " except on NaN, where its result depends on the order")
                       .help("use the built-in " + quoted(*builtin) + ": it propagates NaN"));
}

}  // namespace

ir::MonoidId monoid_of(Session& session, const Definition& definition) {
  if (auto known = session.monoids.find(definition.declaration); known != session.monoids.end()) {
    if (!known->second) throw Abandoned{};
    return *known->second;
  }
  session.monoids[definition.declaration] = std::nullopt;
  ir::Monoid monoid = MonoidBuilder(session, definition).build();
  judge(session, monoid, *definition.as<ast::MonoidDecl>());
  ir::MonoidId id = session.interner.add(std::move(monoid));
  session.monoids[definition.declaration] = id;
  return id;
}

std::optional<ir::MonoidId> builtin_monoid_of(Session& session, const std::string& name, ElementType type) {
  auto key = std::pair(name, compute_type(type));
  if (auto known = session.builtin_monoids.find(key); known != session.builtin_monoids.end()) return known->second;
  auto monoid = ir::builtin_monoid(name, compute_type(type));
  if (!monoid) return std::nullopt;
  ir::MonoidId id = session.interner.add(std::move(*monoid));
  session.builtin_monoids[key] = id;
  return id;
}

}  // namespace tap
