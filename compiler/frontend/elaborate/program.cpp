#include "compiler/frontend/elaborate/program.h"

#include <algorithm>

#include "compiler/frontend/elaborate/annotations.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/size_names.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "ir/graph.h"

namespace tap {
namespace {

// The names in the sizes of a program's types, and its packs of dims.
struct FreeDims {
  std::set<std::string> dims, packs;

  bool has(const std::string& name) const { return dims.count(name) || packs.count(name); }
};

void collect_dims(const Definition& definition, FreeDims& found) {
  const auto& program = *definition.as<ast::ProgramDecl>();
  for (const auto* list : {&program.inputs, &program.results})
    for (const auto& tensor : *list)
      for (const auto& item : tensor.type.dims)
        for_size_names(*definition.module, item.size, [&](const std::string& name, SizeName kind) {
          (kind == SizeName::pack ? found.packs : found.dims).insert(name);
        });
}

using DeclaredDims = std::vector<std::pair<std::string, const Definition*>>;

bool is_declared(const DeclaredDims& declared, const std::string& name) {
  return std::any_of(declared.begin(), declared.end(), [&](const auto& dim) { return dim.first == name; });
}

// a -> b -> c -> a, if the dim's definition is cyclic.
std::optional<std::string> dim_cycle(Elaboration& elaboration, const Env& env, const DeclaredDims& declared,
                                     const std::string& name) {
  std::string text = name, at = name;
  for (std::size_t steps = 0; steps < declared.size(); ++steps) {
    for (const auto& [other, d] : declared) {
      if (other != at) continue;
      auto size = try_size(elaboration, env, d->as<ast::DimDecl>()->value);
      auto* unbound = std::get_if<Unbound>(&size);
      if (!unbound) return std::nullopt;
      at = unbound->name;
      break;
    }
    text += " -> " + at;
    if (at == name) return text;
  }
  return std::nullopt;
}

// Applies `--dim` to the program's names. If every program of a file is checked, a name may belong to another one.
void bind_given_dims(Elaboration& elaboration, Env& env, const Definition& definition, FreeDims known) {
  const std::string& program = definition.name;
  FreeDims all = known;
  if (elaboration.options.check_only && elaboration.options.program.empty())
    for (const Definition* other : definition.scope->in_order)
      if (other->sort == Sort::program) collect_dims(*other, all);
  for (const auto& [name, sizes] : elaboration.options.dims) {
    std::string text;
    for (std::int64_t size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
    auto refuse = [&](Code code, const std::string& why) {
      return Diagnostic(code, {}, "--dim " + name + "=" + text + why);
    };
    if (!all.has(name)) {
      std::vector<std::string> names(known.dims.begin(), known.dims.end());
      names.insert(names.end(), known.packs.begin(), known.packs.end());
      Diagnostic d = refuse(Code::command_line, ": the program " + quoted(program) + " has no dim " + quoted(name));
      if (auto near = did_you_mean(name, names)) d.help("did you mean " + quoted(*near) + "?");
      elaboration.fail(std::move(d));
    }
    if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; }))
      elaboration.fail(refuse(Code::bad_size, ": sizes must not be negative"));
    if (known.packs.count(name)) {
      env.names[name] = PackEntity{sizes, {}};
    } else if (known.dims.count(name)) {
      if (sizes.size() != 1)
        elaboration.fail(
            refuse(Code::command_line, ": " + quoted(name) + " is one dim; got " + counted(sizes.size(), "size"))
                .help("write a pack of dims as " + quoted(name + "..")));
      env.names[name] = DimEntity{sizes[0], {}};
    }
  }
}

// dim n = 4, m = 2*n: in any order.
void bind_declared_dims(Elaboration& elaboration, Env& env, const DeclaredDims& declared) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (const auto& [name, d] : declared) {
      if (env.names.count(name)) continue;
      auto size = try_size(elaboration, env, d->as<ast::DimDecl>()->value);
      if (auto* n = std::get_if<std::int64_t>(&size)) {
        if (*n < 0)
          elaboration.fail(Diagnostic(Code::bad_size, d->name_span,
                                      "the dim " + quoted(name) + " must be at least 0; got " + std::to_string(*n)));
        env.names[name] = DimEntity{*n, d->name_span};
        progress = true;
      }
    }
  }
  for (const auto& [name, d] : declared) {
    if (env.names.count(name)) continue;
    auto size = try_size(elaboration, env, d->as<ast::DimDecl>()->value);
    const Unbound& unbound = std::get<Unbound>(size);
    if (std::optional<std::string> cycle = dim_cycle(elaboration, env, declared, name))
      elaboration.fail(Diagnostic(Code::cyclic_definition, d->name_span,
                                  "the dim " + quoted(name) + " depends on itself: " + *cycle));
    if (is_declared(declared, unbound.name)) continue;          // reported at its declaration
    eval_size(elaboration, env, d->as<ast::DimDecl>()->value);  // reports the unknown name
  }
}

void require_sizes(Elaboration& elaboration, const Env& env, const Definition& definition,
                   const ast::ProgramDecl& program) {
  std::vector<ast::TensorParam> tensors = program.inputs;
  tensors.insert(tensors.end(), program.results.begin(), program.results.end());
  for (const auto& tensor : tensors) {
    auto shape = try_shape(elaboration, env, tensor.type);
    auto* unbound = std::get_if<Unbound>(&shape);
    if (unbound && source_of(elaboration, unbound->span).ends_with(".."))
      elaboration.fail(
          Diagnostic(Code::dim_unbound, unbound->span, "the pack " + quoted(unbound->name + "..") + " has no sizes")
              .help("write the sizes out, as in `f32[16, 16]`, give them with `--dim " + unbound->name +
                    "=16,16`, or give an input whose shape determines them"));
    if (unbound)
      elaboration.fail(Diagnostic(Code::dim_unbound, unbound->span, "the dim " + quoted(unbound->name) + " has no size")
                           .help("declare it with " + quoted("dim " + unbound->name + " = 16") +
                                 ", give it with `--dim " + unbound->name +
                                 "=16`, or give an input whose shape determines it")
                           .fix({definition.part.file, definition.part.begin, definition.part.begin},
                                "dim " + unbound->name + " = 16\n"));
  }
}

// --dim first, then the shapes of given inputs, then the defaults of `dim` declarations.
void bind_dims(Elaboration& elaboration, Env& env, const Definition& definition, const ast::ProgramDecl& program) {
  FreeDims known;
  collect_dims(definition, known);
  DeclaredDims declared;
  for (const Definition* d : definition.scope->in_order)
    if (d->sort == Sort::dim) declared.emplace_back(d->name, d), known.dims.insert(d->name);
  bind_given_dims(elaboration, env, definition, known);
  std::vector<ShapeEquation> equations;
  for (const auto& input : program.inputs)
    if (auto given = elaboration.options.input_shapes.find(input.name.text);
        given != elaboration.options.input_shapes.end())
      equations.push_back({&input.type, given->second, "input " + quoted(input.name.text), input.name.span, true});
  unify_shapes(elaboration, env, std::move(equations), {}, program.name.text, program.name.span);
  bind_declared_dims(elaboration, env, declared);
  require_sizes(elaboration, env, definition, program);
}

}  // namespace

ir::GraphId build_program(Elaboration& elaboration, const Definition& definition) {
  const auto& program = *definition.as<ast::ProgramDecl>();
  BodyBuilder body(elaboration, program.name.text);
  body.env().module = definition.module;
  body.env().scope = definition.scope;
  bind_dims(elaboration, body.env(), definition, program);
  auto refuse_generic = [&](const ast::TensorParam& tensor) {
    return eval_type(elaboration, body.env(), tensor.type.element);
  };
  body.name_results();
  std::size_t errors = elaboration.diagnostics->error_count();
  for (const auto& input : program.inputs) {
    ShapeAndPattern shape = eval_shape(elaboration, body.env(), input.type);
    body.declare_input(input.name, {refuse_generic(input), shape.shape}, std::move(shape.pattern), input.is_const);
    body.declare_sharding(input);
  }
  for (const auto& result : program.results) {
    ShapeAndPattern shape = eval_shape(elaboration, body.env(), result.type);
    body.declare_result(result.name, {refuse_generic(result), shape.shape}, std::move(shape.pattern));
    body.declare_sharding(result);
  }
  body.build(program.body);
  body.finish_results(program.results);
  if (elaboration.diagnostics->error_count() == errors) body.annotate(program.inputs, program.results, program.body);
  if (elaboration.diagnostics->error_count() > errors) throw Abandoned{};
  elaboration.program.graphs.push_back(body.take_graph());
  elaboration.provenance.graphs.push_back(std::move(body.provenance()));
  return ir::GraphId(elaboration.program.graphs.size() - 1);
}

}  // namespace tap
