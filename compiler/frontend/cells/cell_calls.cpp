// Calls in cell expressions: built-in functions, casts, operators applied to cells.
#include <utility>

#include "compiler/frontend/cells/cell_constants.h"
#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/cells/float_values.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap {

using ir::CellId;
using ir::CellOp;

// Each may apply two others, so a short text can cause far more.
constexpr std::size_t most_applications = 10'000;

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                          std::optional<ElementType> expected) {
  for (const auto& arg : call.args)
    if (arg.sharding)
      elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, arg.sharding->span,
                                   "a sharding belongs to a whole tensor, not to the value of a cell")
                            .help("bind the tensor first, `h = … @ pod[…]`, and read its cells"));
  if (call.callee.size() == 1 && !call.has_params) {
    const std::string& name = call.callee[0].text;
    if (builtin_function(name)) return function(env, id, call, frame, expected);
    if (auto type = try_type(env, name)) return cast(env, id, call, *type, frame);
    if (name == "rank" || name == "size")
      return constant(frame, ElementType::i64, eval_size(elaboration_, env, id), env[id].span);
  }
  // T.compute(x): in the computation type of T, f32 for f16 and bf16, else T.
  if (call.callee.size() == 2 && call.callee[1].text == "compute" && !call.has_params)
    if (auto type = try_type(env, call.callee[0].text)) return cast(env, id, call, compute_type(*type), frame);
  return inlined(env, id, call, frame, expected);
}

// y[i] = exp(x[i]), both of integers: converting only x[i] would cause another error.
[[noreturn]] static void refuse_between_integers(Elaboration& elaboration, const ir::CellOpInfo& f, ElementType to,
                                                 ElementType from, Span call, Span argument) {
  std::string source = source_of(elaboration, argument);
  std::string fix_text = type_text(to) + "(" + std::string(f.spelling) + "(f32(" + source + ")))";
  Diagnostic d(
      Code::needs_cast, argument,
      quoted(f.spelling) + " takes " + std::string(argument_description(f.arguments)) + "; got " + type_text(from));
  d.help("convert the argument and the result: " + quoted(fix_text));
  if (source == elaboration.sources.text(argument) && call.file == argument.file) d.fix(call, fix_text);
  elaboration.fail(std::move(d));
}

Cell CellElaborator::function(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                              std::optional<ElementType> expected) {
  CellOp op = *builtin_function(call.callee[0].text);
  const ir::CellOpInfo& f = info(op);
  bool to_bool = f.result == ir::CellResult::boolean;
  bool keeps_floats = f.arguments == ir::CellArguments::floats && !to_bool;
  Span span = env[id].span;
  if (static_cast<int>(call.args.size()) != f.arity) {
    Diagnostic d(Code::wrong_argument_count, span,
                 quoted(f.spelling) + " takes " + counted(static_cast<std::size_t>(f.arity), "argument") + "; got " +
                     std::to_string(call.args.size()));
    if (call.args.size() == 1 && is_builtin_reduction(f.spelling))
      d.help("to reduce over an index, name it: " +
             quoted(std::string(f.spelling) + "[…] " + source_of(elaboration_, env[call.args[0].value].span)));
    elaboration_.fail(std::move(d));
  }
  if (to_bool) expected.reset();
  std::vector<Span> spans;
  for (const auto& arg : call.args) spans.push_back(env[arg.value].span);
  if (f.arity == 2) {
    Pair pair = both(env, call.args[0].value, call.args[1].value, frame, expected, span);
    if (!pair.left.is_literal()) return apply(op, {pair.left, pair.right}, spans, frame);
    return keeps_floats ? Cell{Cell::Kind::float_literal, {}, {}} : pair.left;
  }
  Cell argument = elaborate(env, call.args[0].value, frame, expected);
  if (argument.is_literal()) {
    if (!to_bool) return keeps_floats ? Cell{Cell::Kind::float_literal, {}, {}} : argument;
    argument = typed(env, call.args[0].value, frame, ElementType::f64);
  }
  if (keeps_floats && is_integer(argument.type) && expected && is_integer(*expected))
    refuse_between_integers(elaboration_, f, *expected, argument.type, span, spans[0]);
  return apply(op, {argument}, spans, frame);
}

// A shift by the width or more, or by a negative number, that is known at compile time is a mistake; at run time the
// former gives 0.
void CellElaborator::refuse_wide_shift(ElementType type, const Cell& by, Span span, const Frame& frame) {
  auto bits = static_cast<std::int64_t>(8 * size_of(type));
  auto count = constant_value(frame.cells, by.id);
  if (!count || (count->i >= 0 && count->i < bits) || !may_be_reached()) return;
  elaboration_.fail(Diagnostic(Code::literal_out_of_range, span,
                               "a shift count of " + type_text(type) + " must be 0 to " + std::to_string(bits - 1) +
                                   "; got " + std::to_string(count->i)));
}

Cell CellElaborator::apply(CellOp op, const std::vector<Cell>& args, const std::vector<Span>& spans, Frame& frame) {
  const ir::CellOpInfo& f = info(op);
  ElementType type = args.front().type;
  if (!accepts(f.arguments, type)) {
    bool of_integers = f.arguments == ir::CellArguments::integers;
    std::string source = source_of(elaboration_, spans[0]);
    Diagnostic d(is_integer(type) ? Code::needs_cast : Code::type_mismatch, spans[0],
                 quoted(f.spelling) + " takes " +
                     (of_integers ? "integers" : std::string(argument_description(f.arguments))) + "; got " +
                     std::string(name_of(type)));
    if (is_integer(type) && !of_integers) {
      std::string fix_text = type_text(offered_) + "(" + source + ")";
      d.help("convert it: " + quoted(fix_text));
      if (f.arity == 1 && source == elaboration_.sources.text(spans[0])) d.fix(spans[0], fix_text);
    }
    elaboration_.fail(std::move(d));
  }
  if (op == CellOp::shl || op == CellOp::shr) refuse_wide_shift(type, args[1], spans[1], frame);
  std::vector<CellId> ids;
  for (const Cell& arg : args) ids.push_back(arg.id);
  return make(frame, op, f.result == ir::CellResult::boolean ? ElementType::boolean : type, std::move(ids));
}

Cell CellElaborator::convert(const Cell& value, ElementType to, Frame& frame) {
  if (value.type == to) return value;
  // 16-bit floats are computed in f32: the value is rounded to `to` first.
  return {Cell::Kind::typed, frame.cells.cast(frame.cells.cast(value.id, to), compute_type(to)), to};
}

// T(value), for a float parameter, if T is an integer type or bool.
std::optional<std::int64_t> CellElaborator::parameter_as_integer(const Env& env, ast::ExprId id, const ast::Call& call,
                                                                 ElementType to) {
  auto* name = std::get_if<ast::NameRef>(&env[call.args[0].value].node);
  const Entity* entity = name && !is_float(to) ? env.find(name->name) : nullptr;
  auto* parameter = entity ? std::get_if<FloatEntity>(entity) : nullptr;
  if (!parameter) return std::nullopt;
  bool generic = env.find_as<TypeEntity>(call.callee[0].text) != nullptr;
  return as_integer(elaboration_, *parameter, name->name, to, generic ? env[id].span : Span{});
}

Cell CellElaborator::cast(const Env& env, ast::ExprId id, const ast::Call& call, ElementType to, Frame& frame) {
  Span span = env[id].span;
  if (call.args.size() != 1)
    elaboration_.fail(Diagnostic(Code::wrong_argument_count, span,
                                 "a conversion takes 1 argument; got " + std::to_string(call.args.size())));
  if (auto number = parameter_as_integer(env, id, call, to))
    return convert(constant(frame, ElementType::i64, *number, span), to, frame);
  Cell value = elaborate(env, call.args[0].value, frame, std::nullopt);
  if (value.is_literal()) {
    bool truncates = value.kind == Cell::Kind::float_literal && !is_float(to);
    value = elaborate(env, call.args[0].value, frame,
                      truncates     ? ElementType::f64
                      : is_bool(to) ? ElementType::i64
                                    : to);
  }
  return convert(value, to, frame);
}

// ---- operators on cells ---------------------------------------------------------------------------------------------
// Their parameters are 0-d, their equations cell expressions, their locals lets.

void CellElaborator::refuse_inlining(const Definition& definition, Span span, const std::string& why) {
  elaboration_.fail(
      Diagnostic(Code::not_inlinable, span, quoted(definition.name) + " cannot be applied to cells: " + why)
          .label(definition.name_span, "declared here")
          .help("bind the whole tensor first, `h = " + definition.name + "(…)`, and read its cells"));
}

// A cell has no axes over which a pack could run: sum[i..] x[i..].
void CellElaborator::refuse_packs_of_cells(const ast::Reduce& reduce) {
  for (const ast::RangeVar& var : reduce.vars) {
    if (!var.pack) continue;
    const Definition& definition = *inlining_.back();
    auto site = std::find_if(elaboration_.call_sites.rbegin(), elaboration_.call_sites.rend(),
                             [&](const auto& call) { return call.callee == definition.name; });
    refuse_inlining(definition, site == elaboration_.call_sites.rend() ? var.name.span : site->span,
                    "it reduces over the pack " + quoted(var.name.text + ".."));
  }
}

const Definition& CellElaborator::inlinable(const Env& env, const ast::Call& call, Span span) {
  const ast::Name& name = call.callee.back();
  const Definition* definition = call.callee.size() == 2 ? elaboration_.definitions.find_qualified(
                                                               *env.scope, Sort::op, call.callee[0].text, name.text)
                                                         : elaboration_.definitions.find(*env.scope, Sort::op, name);
  if (auto* tensor = definition ? nullptr : env.find_as<TensorEntity>(name.text)) {
    std::string source = source_of(elaboration_, span), read = name.text + "[" + source.substr(source.find('(') + 1);
    if (read.ends_with(')')) read.back() = ']';
    Diagnostic d(Code::wrong_kind_of_name, span, quoted(name.text) + " is a tensor, not an operator");
    d.label(tensor->span, "defined here").help("read its cell with brackets: " + quoted(read));
    if (source == elaboration_.sources.text(span)) d.fix(span, read);
    elaboration_.fail(std::move(d));
  }
  if (!definition) {
    Diagnostic d(Code::unknown_name, name.span, "unknown operator or function " + quoted(name.text));
    if (!offer_plain_call(elaboration_, env, call, span, d)) offer_definition(elaboration_, env, Sort::op, name, d);
    elaboration_.fail(std::move(d));
  }
  const auto* op = definition->as<ast::OpDecl>();
  if (!op) refuse_inlining(*definition, span, "it is an outside kernel");
  if (op->results.size() != 1) refuse_inlining(*definition, span, "it has " + counted(op->results.size(), "result"));
  for (const auto* open : inlining_)
    if (open->declaration == definition->declaration)
      elaboration_.fail(Diagnostic(Code::recursion, span,
                                   quoted(name.text) + " is recursive: it is applied within its own definition")
                            .help(help_for_recursion));
  if (op->inputs.size() != call.args.size()) {
    Diagnostic d(Code::wrong_argument_count, span,
                 quoted(name.text) + " takes " + counted(op->inputs.size(), "argument") + "; got " +
                     std::to_string(call.args.size()));
    d.label(definition->name_span, "declared here");
    offer_parameters(elaboration_, env, signature_of(*definition), call, span, d);
    elaboration_.fail(std::move(d));
  }
  return *definition;
}

// The operator may use an argument under a condition, or not at all, so it is not evaluated yet.
Cell CellElaborator::for_type(const ThunkEntity& argument, Frame& frame) {
  bool outer = std::exchange(for_type_, true);
  Cell cell = thunk(argument, frame, std::nullopt);
  for_type_ = outer;
  return cell;
}

// Literals take the parameter's type, or that of the typed arguments. Arguments stay expressions: one that is used
// under an `if` of the operator is evaluated only if that branch is taken.
std::vector<ThunkEntity> CellElaborator::arguments(const Env& env, const ast::Call& call, const ast::OpDecl& op,
                                                   Frame& frame, std::optional<ElementType> expected) {
  std::vector<ThunkEntity> thunks;
  std::optional<ElementType> generic = expected;
  bool found = false;
  std::vector<bool> is_literal;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    ThunkEntity argument{call.args[i].value, &env};
    argument.span = env[call.args[i].value].span;
    argument.inlined_in = inlining_.size();
    auto declared = element_type_named(op.inputs[i].type.element.text);
    Cell cell = for_type(argument, frame);
    is_literal.push_back(cell.is_literal());
    if (cell.is_literal()) argument.type = declared;
    else if (!found && !declared) generic = cell.type, found = true;
    thunks.push_back(argument);
  }
  for (std::size_t i = 0; i < thunks.size(); ++i) {
    if (!is_literal[i] || thunks[i].type) continue;
    thunks[i].type = generic ? *generic : typed(env, thunks[i].expr, frame, std::nullopt).type;
  }
  return thunks;
}

// Every equation becomes a let; later ones can use earlier ones.
void CellElaborator::bind_equations(Env& callee, const Definition& definition, const ast::OpDecl& op, Span span) {
  std::set<std::string> written;
  auto bind = [&](const std::string& name, ThunkEntity value) {
    if (!written.insert(name).second) refuse_inlining(definition, span, quoted(name) + " has several equations");
    callee.names[name] = value;
  };
  const ast::TensorParam& result = op.results[0];
  for (const auto& statement : op.body) {
    if (auto* binding = std::get_if<ast::Binding>(&statement.node);
        binding && binding->left.size() == 1 && !std::holds_alternative<ast::Iterate>(callee[binding->right].node)) {
      bind(binding->left[0].text, {binding->right, &callee});
      continue;
    }
    auto* equation = std::get_if<ast::Equation>(&statement.node);
    if (!equation || equation->left.size() != 1 || !equation->ranges.empty())
      refuse_inlining(definition, span, "its body must have exactly one equation for each value");
    const ast::LeftSide& cell = equation->left[0];
    for (ast::ExprId index : cell.indices) {
      auto* pack = std::get_if<ast::PackRef>(&callee[index].node);
      if (!pack) refuse_inlining(definition, span, quoted(cell.base.text) + " has an index");
      if (!callee.find_as<VarPackEntity>(pack->name)) space_.bind_empty_pack(callee, pack->name, cell.span);
    }
    ThunkEntity local{equation->right, &callee};
    if (cell.base.text == result.name.text) local.type = eval_type(elaboration_, callee, result.type.element);
    bind(cell.base.text, local);
  }
  if (!written.count(result.name.text))
    refuse_inlining(definition, span, "its result " + quoted(result.name.text) + " has no equation");
}

Cell CellElaborator::inlined(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                             std::optional<ElementType> expected) {
  Span span = env[id].span;
  const Definition& definition = inlinable(env, call, span);
  const auto& op = *definition.as<ast::OpDecl>();
  Signature signature = signature_of(definition);
  std::vector<ThunkEntity> thunks = arguments(env, call, op, frame, expected);
  std::vector<TypedArgument> given;
  std::vector<CellId> cells;
  for (const ThunkEntity& argument : thunks) {
    Cell cell = for_type(argument, frame);
    given.push_back({{cell.type, {}}, argument.span, true});
    cells.push_back(cell.id);
  }
  Env& callee = space_.new_scope(env);
  callee.parent = nullptr;
  callee.module = definition.module;
  callee.scope = definition.scope;
  Elaboration::Called called(elaboration_, signature.name.text, span);
  bind_signature(elaboration_, callee, signature, env, call.params, given, span);
  // Equal applications share one cell.
  auto key = std::tuple(static_cast<const void*>(definition.declaration), binding_key(callee, signature, given), cells,
                        Frame::Guards());
  if (frame.applied.size() > most_applications)
    elaboration_.fail(Diagnostic(Code::nesting_too_deep, span,
                                 "with all operators inlined, this takes more than " +
                                     std::to_string(most_applications) + " operations per cell")
                          .help("define parts of it in separate equations"));
  return once(frame.applied, std::move(key), [&] {
    for (std::size_t i = 0; i < thunks.size(); ++i) callee.names[op.inputs[i].name.text] = thunks[i];
    bind_equations(callee, definition, op, span);
    inlining_.push_back(&definition);
    const ast::TensorParam& result = op.results[0];
    const auto bound = std::get<ThunkEntity>(callee.names[result.name.text]);
    ElementType type = eval_type(elaboration_, callee, result.type.element);
    CellId cell = of_type(*bound.env, bound.expr, frame, type, result.type.element.span, "the result's type");
    inlining_.pop_back();
    return Cell{Cell::Kind::typed, cell, type};
  });
}

}  // namespace tap
