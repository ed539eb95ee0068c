// Operators that no program of the file calls are tried on small sizes, so that `tapc check` finds their mistakes too.
#include <algorithm>

#include "compiler/frontend/body.h"
#include "compiler/frontend/monoids.h"
#include "compiler/frontend/program.h"
#include "compiler/frontend/signature.h"
#include "compiler/frontend/sizes.h"
#include "support/checked.h"

namespace tap {
namespace {

// Why a sample was refused although the operator may be fine: sizes, types or parameters that do not fit it.
bool only_unfitting(const Diagnostics& diagnostics) {
  return std::all_of(diagnostics.all().begin(), diagnostics.all().end(), [](const Diagnostic& d) {
    switch (d.code) {
      case Code::condition_not_met:
      case Code::shape_mismatch:
      case Code::rank_mismatch:
      case Code::bad_parameter:
      case Code::bad_size:
      case Code::pack_ambiguous:
      case Code::dim_not_solvable:
      case Code::dim_unbound:
      case Code::type_mismatch: return !d.labels.empty() && d.span == d.labels.front().span ? false : !d.span.valid();
      default: return d.severity() != Severity::error;
    }
  });
}

// One way to call an operator: every dim has a size, every pack a rank, every generic a type.
struct Sample {
  ElementType type;
  std::size_t rank;
  std::int64_t size;
};

std::optional<std::vector<GivenTensor>> tensors_for(Session& session, const Signature& signature, const Env& env,
                                                    const Sample& sample) {
  std::vector<GivenTensor> given;
  for (const auto& input : signature.inputs) {
    GivenTensor tensor{{try_type(env, input.type.element.text).value_or(sample.type), {}}, {}};
    for (const auto& item : input.type.dims) {
      if (item.pack) {
        tensor.type.shape.insert(tensor.type.shape.end(), sample.rank, sample.size);
        continue;
      }
      if (std::holds_alternative<ast::NameRef>(env[item.size].node)) {
        auto known = try_size(session, env, item.size);
        auto* n = std::get_if<std::int64_t>(&known);
        tensor.type.shape.push_back(n ? *n : sample.size);
        continue;
      }
      Env probe = Env::inside(env);
      for (int tries = 0; tries < 8; ++tries) {
        auto size = try_size(session, probe, item.size);
        if (auto* unbound = std::get_if<Unbound>(&size)) {
          probe.names[unbound->name] = DimEntity{sample.size, {}};
          continue;
        }
        tensor.type.shape.push_back(std::get<std::int64_t>(size));
        break;
      }
    }
    given.push_back(std::move(tensor));
  }
  return given;
}

void try_operator(Session& session, const Definition& definition) {
  Signature signature = signature_of(definition);
  for (const auto& param : signature.params)
    if (!param.default_value && !param.pack) return;  // no value that would surely make sense
  Env caller;
  caller.module = definition.module;
  caller.scope = definition.scope;
  Diagnostics* real = session.diagnostics;
  for (const Sample& sample : {Sample{ElementType::f32, 1, 4}, Sample{ElementType::f32, 2, 3},
                               Sample{ElementType::i32, 1, 4}, Sample{ElementType::f32, 0, 5}}) {
    Diagnostics trial;
    session.diagnostics = &trial;
    try {
      Env parameters = Env::inside(caller);
      auto given = tensors_for(session, signature, parameters, sample);
      if (given) instantiate(session, definition, caller, {}, *given, {});
    } catch (const Abandoned&) {
    } catch (const Overflow&) {}
    session.diagnostics = real;
    if (!trial.has_errors()) return;
    if (only_unfitting(trial)) continue;
    for (const auto& diagnostic : trial.all()) {
      if (!diagnostic.span.valid()) continue;
      Diagnostic d = diagnostic;
      std::erase_if(d.labels, [](const Label& label) { return !label.span.valid(); });
      d.note("found by trying " + quoted(signature.name.text) + " on tensors with dims of " +
             std::to_string(sample.size) + " and packs of " + std::to_string(sample.rank) + " dims, elements " +
             std::string(name_of(sample.type)));
      real->report(std::move(d));
    }
    return;
  }
}

}  // namespace

void check_uncalled_operators(Session& session, const ModuleScope& scope) {
  for (const Definition* definition : scope.in_order) {
    try {
      if (definition->sort == Sort::monoid && !session.instantiated.count(definition->declaration))
        try_monoid(session, *definition);
      if (definition->sort == Sort::op && !session.instantiated.count(definition->declaration))
        try_operator(session, *definition);
    } catch (const Abandoned&) {}
  }
}

}  // namespace tap
