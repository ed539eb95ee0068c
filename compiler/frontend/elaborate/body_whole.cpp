// Whole tensors: names, calls, built-in functions over all cells, literals in the place of a scalar tensor.
#include <algorithm>

#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap {

using Bound = BodyBuilder::Bound;

bool BodyBuilder::is_literal(ast::ExprId id) const {
  const ast::Expr& expr = env_[id];
  if (auto* unary = std::get_if<ast::Unary>(&expr.node)) return is_literal(unary->operand);
  if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
    const Entity* entity = env_.find(name->name);
    return entity && (std::holds_alternative<DimEntity>(*entity) || std::holds_alternative<IntEntity>(*entity) ||
                      std::holds_alternative<FloatEntity>(*entity) || std::holds_alternative<BoolEntity>(*entity) ||
                      std::holds_alternative<CounterEntity>(*entity));
  }
  if (auto* member = std::get_if<ast::Member>(&expr.node)) {  // T.max
    auto* type = std::get_if<ast::NameRef>(&env_[member->object].node);
    return type && try_type(env_, type->name);
  }
  return std::holds_alternative<ast::IntLiteral>(expr.node) || std::holds_alternative<ast::FloatLiteral>(expr.node) ||
         std::holds_alternative<ast::BoolLiteral>(expr.node);
}

// b.T of a tensor: tensors have no members.
static void refuse_member(Elaboration& elaboration, const Env& env, const ast::Member& member, Span span) {
  auto* name = std::get_if<ast::NameRef>(&env[member.object].node);
  auto* tensor = name ? env.find_as<TensorEntity>(name->name) : nullptr;
  if (!tensor) return;
  Diagnostic d(Code::wrong_kind_of_name, span, quoted(name->name) + " is a tensor, which has no members");
  d.label(tensor->span, "defined here");
  if (member.member.text == "T" || member.member.text == "transpose")
    d.help("transpose with an equation, `t[j, i] = " + name->name + "[i, j]`, or with `transpose(" + name->name +
           ")` from std");
  if (member.member.text == "shape") d.help("the sizes of a tensor are the dims of its type: `n` of `x: f32[n]`");
  elaboration.fail(std::move(d));
}

std::vector<Bound> BodyBuilder::whole(ast::ExprId id, const std::vector<std::string>& names) {
  const ast::Expr& expr = env_[id];
  std::string first = names.empty() ? "t" : names.front();
  if (auto* name = std::get_if<ast::NameRef>(&expr.node); name && !is_literal(id)) {
    auto* tensor = env_.find_as<TensorEntity>(name->name);
    if (!tensor) elaboration_.fail(not_a_tensor(env_, name->name, expr.span));
    if (tensor->poisoned) throw Abandoned{};
    return {{local_value(*tensor), tensor->type}};
  }
  if (auto* c = std::get_if<ast::Call>(&expr.node)) {
    bool plain = c->callee.size() == 1 && !c->has_params;
    if (plain && (builtin_function(c->callee[0].text) || try_type(env_, c->callee[0].text)))
      return map_call(*c, id, names.empty() ? name_within_statement(c->callee[0].text) : first);
    return call(*c, id, names);
  }
  if (auto* iterate_node = std::get_if<ast::Iterate>(&expr.node)) return iterate(*iterate_node, id, names);
  if (auto* tuple = std::get_if<ast::Tuple>(&expr.node)) {
    std::vector<Bound> all;
    for (std::size_t i = 0; i < tuple->items.size(); ++i) {
      auto one = whole(tuple->items[i], {i < names.size() ? names[i] : first});
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  if (std::holds_alternative<ast::Unary>(expr.node) || std::holds_alternative<ast::Binary>(expr.node) ||
      std::holds_alternative<ast::If>(expr.node)) {
    if (!is_literal(id)) arithmetic_on_tensors(id);
  }
  if (auto* index = std::get_if<ast::Index>(&expr.node))
    elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, expr.span,
                                 quoted(source_of(elaboration_, expr.span)) + " is a cell of " +
                                     quoted(index->base.text) + "; a whole tensor is expected here")
                          .help("define the tensor with an equation first, for example " +
                                quoted("row[j] = " + index->base.text + "[t, j]")));
  if (auto* reduce = std::get_if<ast::Reduce>(&expr.node))
    elaboration_.fail(
        Diagnostic(Code::wrong_kind_of_name, expr.span,
                   "a reduction by " + quoted(reduce->monoid.text) + " computes cells; a whole tensor is expected here")
            .help("write " + quoted(first + "[] = …") + " for a tensor with one cell"));
  if (auto* member = std::get_if<ast::Member>(&expr.node)) refuse_member(elaboration_, env_, *member, expr.span);
  if (is_literal(id)) literal_for(id);
  elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, expr.span,
                               quoted(source_of(elaboration_, expr.span)) + " is not a whole tensor"));
}

// `y = 3`: suggests an equation over the cells of y if it has dims; otherwise the type must be given.
void BodyBuilder::literal_for(ast::ExprId id) {
  Span span = env_[id].span;
  std::string literal = source_of(elaboration_, span);
  const ast::Binding* binding = nullptr;  // if the literal is the whole right side
  if (statements_ && current_ < statements_->size())
    binding = std::get_if<ast::Binding>(&(*statements_)[current_].node);
  if (binding && (binding->left.size() != 1 || !(binding->right == id))) binding = nullptr;
  auto* target = binding ? env_.find_as<TensorEntity>(binding->left[0].text) : nullptr;
  if (target && (target->owner != this || target->complete)) target = nullptr;
  if (target && !target->type.shape.empty()) {
    std::string variables;
    std::size_t missing = target->type.shape.size();
    for (char variable = 'i'; variable <= 'z' && missing > 0; ++variable) {
      if (env_.find(std::string(1, variable))) continue;
      variables += std::string(variables.empty() ? "" : ", ") + variable;
      --missing;
    }
    const ast::Name& name = binding->left[0];
    std::string left = name.text + "[" + (missing > 0 ? "…" : variables) + "]";
    Diagnostic d(Code::wrong_kind_of_name, span,
                 quoted(literal) + " is a number, but " + quoted(name.text) + " is " + to_string(target->type));
    d.label(target->span, "declared here").help("write an equation for its cells: " + quoted(left + " = " + literal));
    if (missing == 0) d.fix(name.span, left);
    elaboration_.fail(std::move(d));
  }
  std::string cast = std::string(target ? name_of(target->type.element) : "f32") + "(" + literal + ")";
  elaboration_.fail(
      Diagnostic(Code::needs_cast, span, "the type of " + quoted(literal) + " cannot be inferred from its context")
          .help("write the type: " + quoted(cast))
          .fix(span, cast));
}

// A literal stands for a tensor without dims.
Bound BodyBuilder::literal_tensor(ast::ExprId id, const ir::TensorType& type) {
  IndexSpace space(elaboration_);
  CellElaborator cells(elaboration_, this, space, "constant");
  Frame frame(space);
  std::vector<ir::CellId> roots{cells.of_type(env_, id, frame, type.element, {}, "")};
  roots[0] = frame.cells.cast(roots[0], type.element);
  FrameWrite write;
  write.element = type.element;
  ir::ValueId value = add_value("constant", type, env_[id].span);
  auto finished = frame.finish("constant", {}, {}, {write}, roots, counter_depth_);
  add_operation(std::move(finished), ir::MapBody{roots}, {value}, env_[id].span);
  return {value, type};
}

// The arguments of a cellwise function; nothing for a literal.
std::vector<std::optional<Bound>> BodyBuilder::tensors_of_one_shape(const ast::Call& call, std::size_t arity,
                                                                    Span span) {
  const std::string function = quoted(call.callee[0].text);
  if (call.args.size() != arity)
    elaboration_.fail(
        Diagnostic(Code::wrong_argument_count, span,
                   function + " takes " + counted(arity, "argument") + "; got " + std::to_string(call.args.size())));
  std::vector<std::optional<Bound>> given;
  const Shape* shape = nullptr;
  given.reserve(arity);
  for (const auto& arg : call.args) {
    given.push_back(is_literal(arg.value) ? std::nullopt : std::optional(whole(arg.value, {}).at(0)));
    if (!given.back()) continue;
    const Shape& own = given.back()->type.shape;
    if (!shape) shape = &own;
    if (*shape != own)
      elaboration_.fail(Diagnostic(
          Code::shape_mismatch, span,
          function + " takes tensors of the same shape; got " + to_string(*shape) + " and " + to_string(own)));
  }
  return given;
}

// exp(X), max(A, B), f16(X): the map over the cells of tensors of one shape.
std::vector<Bound> BodyBuilder::map_call(const ast::Call& call, ast::ExprId id, const std::string& name) {
  Span span = env_[id].span;
  std::optional<ir::CellOp> f = builtin_function(call.callee[0].text);
  std::vector<std::optional<Bound>> given =
      tensors_of_one_shape(call, static_cast<std::size_t>(f ? info(*f).arity : 1), span);
  std::optional<ElementType> to = f ? std::nullopt : try_type(env_, call.callee[0].text);
  auto tensor = std::find_if(given.begin(), given.end(), [](const auto& argument) { return argument.has_value(); });
  if (tensor == given.end() && to) return {literal_tensor(call.args[0].value, {*to, {}})};
  const ir::TensorType first = tensor == given.end() ? ir::TensorType{ElementType::f32, {}} : (*tensor)->type;
  IndexSpace space(elaboration_);
  std::vector<VarId> vars = space.over_shape(first.shape, span);
  CellElaborator cells(elaboration_, this, space, name);
  Frame frame(space);
  FrameWrite write;
  for (VarId var : vars) write.start.push_back({{{var, 1}}, 0});
  std::vector<Cell> args;
  std::vector<Span> spans;
  for (std::size_t i = 0; i < given.size(); ++i) {
    spans.push_back(env_[call.args[i].value].span);
    if (!given[i]) {
      args.push_back(
          {Cell::Kind::typed, cells.of_type(env_, call.args[i].value, frame, first.element, span, ""), first.element});
      continue;
    }
    FrameRead read{given[i]->value, given[i]->type, write.start, {}, std::nullopt, spans.back()};
    ElementType type = given[i]->type.element;
    args.push_back({Cell::Kind::typed, frame.cells.cast(frame.read(std::move(read)), compute_type(type)), type});
    if (args.back().type != args.front().type)
      elaboration_.fail(Diagnostic(Code::type_mismatch, span,
                                   quoted(call.callee[0].text) + " takes tensors of the same type; got " +
                                       std::string(name_of(args.front().type)) + " and " + std::string(name_of(type))));
  }
  Cell result = f ? cells.apply(*f, args, spans, frame) : cells.convert(args[0], *to, frame);
  write.element = result.type;
  write.result_shape = first.shape;
  std::vector<ir::CellId> roots{frame.cells.cast(result.id, result.type)};
  ir::ValueId value = add_value(name, {result.type, first.shape}, span);
  auto finished = frame.finish(call.callee[0].text, vars, {}, {write}, roots, counter_depth_);
  add_operation(std::move(finished), ir::MapBody{roots}, {value}, span);
  std::vector<std::optional<ir::ValueId>> arguments;
  for (const auto& argument : given) arguments.push_back(argument ? std::optional(argument->value) : std::nullopt);
  annotate_arguments(call, arguments);
  return {{value, {result.type, first.shape}}};
}

// The callee, with the right number of arguments.
const Definition& BodyBuilder::callee_of(const ast::Call& call, Span span) {
  const ast::Name& name = call.callee.back();
  auto& all = elaboration_.definitions;
  const Definition* definition = call.callee.size() == 2
                                     ? all.find_qualified(*env_.scope, Sort::op, call.callee[0].text, name.text)
                                     : all.find(*env_.scope, Sort::op, name);
  if (!definition) {
    Diagnostic d(Code::unknown_name, name.span, "unknown operator or function " + quoted(name.text));
    if (!offer_plain_call(elaboration_, env_, call, span, d)) offer_definition(elaboration_, env_, Sort::op, name, d);
    elaboration_.fail(std::move(d));
  }
  Signature signature = signature_of(*definition);
  if (call.args.size() != signature.inputs.size()) {
    Diagnostic d(Code::wrong_argument_count, span,
                 quoted(name.text) + " takes " + counted(signature.inputs.size(), "argument") + "; got " +
                     std::to_string(call.args.size()));
    d.label(definition->name_span, "declared here");
    offer_parameters(elaboration_, env_, signature, call, span, d);
    elaboration_.fail(std::move(d));
  }
  return *definition;
}

// An argument or a state: one tensor, not the several of a tuple or a call.
Bound BodyBuilder::one_tensor(ast::ExprId id, const std::vector<std::string>& names, const std::string& expectation) {
  auto values = whole(id, names);
  if (values.size() != 1)
    elaboration_.fail(Diagnostic(Code::wrong_argument_count, env_[id].span,
                                 expectation + "; this has " + counted(values.size(), "result")));
  return values[0];
}

std::vector<Bound> BodyBuilder::call(const ast::Call& call, ast::ExprId id, const std::vector<std::string>& names) {
  Span span = env_[id].span;
  const std::string& callee = call.callee.back().text;
  const Definition& definition = callee_of(call, span);
  Signature signature = signature_of(definition);
  std::vector<std::optional<Bound>> given(call.args.size());
  std::map<std::string, ElementType> generics;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (is_literal(call.args[i].value)) continue;
    given[i] = one_tensor(call.args[i].value, {}, "one tensor is expected here");
    generics.emplace(signature.inputs[i].type.element.text, given[i]->type.element);
  }
  std::vector<TypedArgument> tensors;
  std::vector<ir::ValueId> operands;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (!given[i]) {
      const std::string& element = signature.inputs[i].type.element.text;
      auto type = element_type_named(element);
      if (!type && generics.count(element)) type = generics[element];
      if (!type) whole(call.args[i].value, {});  // reports that a type must be given
      given[i] = literal_tensor(call.args[i].value, {*type, {}});
    }
    tensors.push_back({given[i]->type, env_[call.args[i].value].span});
    operands.push_back(given[i]->value);
  }
  Instance instance = instantiate(elaboration_, definition, env_, call.params, tensors, span);
  std::vector<Bound> results;
  std::vector<ir::ValueId> values;
  for (std::size_t k = 0; k < instance.results.size(); ++k) {
    std::string name = k < names.size() ? names[k]
                       : names.empty()  ? name_within_statement(callee)
                                        : instance.result_names[k];
    values.push_back(add_value(name, instance.results[k], span));
    results.push_back({values.back(), instance.results[k]});
  }
  auto operation_operands = operands;
  add_operation(instance.op, std::move(operands), std::move(values), span, instance.names);
  instances_.emplace_back(callee + "#" + std::to_string(++instance_count_[callee]),
                          ir::OperationId(graph_.operations.size() - 1));
  annotate_arguments(call, {operation_operands.begin(), operation_operands.end()});
  return results;
}

}  // namespace tap
