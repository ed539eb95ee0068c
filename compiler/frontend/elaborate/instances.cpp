// Operators specialised for a call: one inner graph per distinct binding of types, sizes and parameters.
#include <algorithm>

#include "compiler/frontend/cells/float_values.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/externs.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap {
namespace {

std::string name_of_operator(const ast::Declaration& declaration) {
  if (auto* op = std::get_if<ast::OpDecl>(&declaration.node)) return op->name.text;
  return std::get<ast::ExternDecl>(declaration.node).name.text;
}

Instance build_instance(Elaboration& elaboration, const Definition& definition, const Signature& signature, Env callee,
                        const std::vector<TypedArgument>& given) {
  const auto* op = definition.as<ast::OpDecl>();
  BodyBuilder body(elaboration, op->name.text);
  body.env() = std::move(callee);
  for (std::size_t i = 0; i < given.size(); ++i) {
    ShapeAndPattern shape = eval_shape(elaboration, body.env(), signature.inputs[i].type);
    body.declare_input(signature.inputs[i].name, given[i].type, std::move(shape.pattern), false);
    body.declare_sharding(signature.inputs[i]);
  }
  Instance instance;
  ir::Operator call;
  for (const auto& result : signature.results) {
    ShapeAndPattern shape = eval_shape(elaboration, body.env(), result.type);
    ir::TensorType type{eval_type(elaboration, body.env(), result.type.element), shape.shape};
    body.declare_result(result.name, type, std::move(shape.pattern));
    body.declare_sharding(result);
    instance.results.push_back(type);
    instance.result_names.push_back(result.name.text);
    call.result_names.push_back(result.name.text);
    call.results.push_back(type);
  }
  std::size_t errors = elaboration.diagnostics->error_count();
  body.build(op->body);
  body.finish_results(signature.results);
  if (elaboration.diagnostics->error_count() == errors) body.annotate(signature.inputs, signature.results, op->body);
  if (elaboration.diagnostics->error_count() > errors) throw Abandoned{};
  elaboration.program.graphs.push_back(body.take_graph());
  elaboration.provenance.graphs.push_back(std::move(body.provenance()));
  call.name = op->name.text;
  for (const auto& tensor : given) call.operands.push_back(tensor.type);
  for (const auto& input : signature.inputs) call.operand_names.push_back(input.name.text);
  call.body = ir::RegionBody{ir::RegionKind::call, ir::GraphId(elaboration.program.graphs.size() - 1), {0, 1}};
  instance.op = elaboration.interner.add(std::move(call));
  return instance;
}

}  // namespace

std::string binding_key(const Env& callee, const Signature& signature, const std::vector<TypedArgument>& given) {
  std::string key;
  for (const auto& param : signature.params) {
    const Entity& entity = callee.names.at(param.name.text);
    if (auto* i = std::get_if<IntEntity>(&entity)) key += std::to_string(i->value);
    if (auto* f = std::get_if<FloatEntity>(&entity)) key += key_of(f->value);
    if (auto* b = std::get_if<BoolEntity>(&entity)) key += b->value ? "true" : "false";
    if (auto* t = std::get_if<TypeEntity>(&entity)) key += name_of(t->type);
    if (auto* p = std::get_if<PackEntity>(&entity)) key += to_string(p->sizes);
    key += ';';
  }
  for (const auto& tensor : given) key += to_string(tensor.type) + ';';
  return key;
}

Instance instantiate(Elaboration& elaboration, const Definition& definition, const Env& caller,
                     const std::vector<ast::ParamArg>& params, const std::vector<TypedArgument>& given,
                     Span call_span) {
  Signature signature = signature_of(definition);
  Env callee;
  callee.module = definition.module;
  callee.scope = definition.scope;
  {
    Elaboration::Called called(elaboration, signature.name.text, call_span);
    bind_signature(elaboration, callee, signature, caller, params, given, call_span);
  }

  // Before the look-up: an unfinished instance is also in the table, and would look like one that failed.
  auto open = std::find(elaboration.instantiating.begin(), elaboration.instantiating.end(), definition.declaration);
  if (open != elaboration.instantiating.end()) {
    std::string chain;
    for (auto at = open; at != elaboration.instantiating.end(); ++at) chain += name_of_operator(**at) + " -> ";
    elaboration.fail(
        Diagnostic(Code::recursion, call_span,
                   quoted(signature.name.text) + " is called within its own definition: " + chain + signature.name.text)
            .label(definition.name_span, "declared here")
            .help(help_for_recursion));
  }
  auto key = std::pair(definition.declaration, binding_key(callee, signature, given));
  if (auto known = elaboration.instances.find(key); known != elaboration.instances.end()) {
    if (!known->second) throw Abandoned{};
    return *known->second;
  }
  constexpr std::size_t most_instances = 30'000;
  if (elaboration.instances.size() >= most_instances)
    elaboration.fail(Diagnostic(Code::nesting_too_deep, call_span,
                                "operator calls need more than " + std::to_string(most_instances) +
                                    " instances with different parameters or sizes")
                         .help("call the inner operators with the same parameters, or repeat with `iterate`"));
  elaboration.instances[key] = std::nullopt;
  elaboration.instantiating.push_back(definition.declaration);
  Elaboration::Called called(elaboration, signature.name.text, call_span);
  elaboration.instantiated.insert(definition.declaration);
  struct Leave {
    Elaboration& elaboration;
    ~Leave() { elaboration.instantiating.pop_back(); }
  } leave{elaboration};
  Instance instance = definition.as<ast::OpDecl>()
                          ? build_instance(elaboration, definition, signature, std::move(callee), given)
                          : build_extern(elaboration, definition, callee, given);
  elaboration.instances[key] = instance;
  return instance;
}

}  // namespace tap
