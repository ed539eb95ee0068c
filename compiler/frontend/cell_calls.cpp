// Calls in cell expressions: built-in functions, casts, operators applied to cells.
#include "compiler/frontend/body.h"
#include "compiler/frontend/builtins.h"
#include "compiler/frontend/cell_constants.h"
#include "compiler/frontend/cells.h"
#include "compiler/frontend/signature.h"
#include "compiler/frontend/sizes.h"
#include "compiler/frontend/unknown_names.h"

namespace tap {

using ir::CellId;
using ir::CellOp;

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                          std::optional<ElementType> expected) {
  if (call.callee.size() == 1 && !call.has_params) {
    const std::string& name = call.callee[0].text;
    if (builtin_function(name)) return function(env, id, call, frame, expected);
    if (auto type = try_type(env, name)) return cast(env, id, call, *type, frame);
    if (name == "rank" || name == "size")
      return constant(frame, ElementType::i64, eval_size(session_, env, id), env[id].span);
  }
  // T.compute(x): in the type that T computes in, f32 for f16 and bf16, else T.
  if (call.callee.size() == 2 && call.callee[1].text == "compute" && !call.has_params)
    if (auto type = try_type(env, call.callee[0].text)) return cast(env, id, call, compute_type(*type), frame);
  return inlined(env, id, call, frame, expected);
}

Cell CellElaborator::function(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                              std::optional<ElementType> expected) {
  CellOp op = *builtin_function(call.callee[0].text);
  const ir::CellOpInfo& f = info(op);
  bool to_bool = f.result == ir::CellResult::boolean;
  bool keeps_floats = f.arguments == ir::CellArguments::floats && !to_bool;
  Span span = env[id].span;
  if (static_cast<int>(call.args.size()) != f.arity)
    session_.fail(Diagnostic(Code::wrong_argument_count, span,
                             quoted(f.spelling) + " takes " + std::to_string(f.arity) +
                                 (f.arity == 1 ? " argument" : " arguments") + "; got " +
                                 std::to_string(call.args.size())));
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
  return apply(op, {argument}, spans, frame);
}

// Known while compiling, a shift by the width or more, or by a negative number, is a slip; at run time the first gives 0.
void CellElaborator::refuse_wide_shift(ElementType type, const Cell& by, Span span, const Frame& frame) {
  auto bits = static_cast<std::int64_t>(8 * size_of(type));
  auto count = constant_value(frame.cells, by.id);
  if (!count || (*count >= 0 && *count < bits)) return;
  session_.fail(Diagnostic(Code::literal_out_of_range, span,
                           "a shift of " + type_text(type) + " is by 0 to " + std::to_string(bits - 1) + " bits; got " +
                               std::to_string(*count)));
}

Cell CellElaborator::apply(CellOp op, const std::vector<Cell>& args, const std::vector<Span>& spans, Frame& frame) {
  const ir::CellOpInfo& f = info(op);
  ElementType type = args.front().type;
  if (!accepts(f.arguments, type)) {
    bool of_integers = f.arguments == ir::CellArguments::integers;
    std::string source = source_of(session_, spans[0]);
    Diagnostic d(is_integer(type) ? Code::needs_cast : Code::type_mismatch, spans[0],
                 quoted(f.spelling) + " takes " + (of_integers ? "integers" : std::string(wanted(f.arguments))) +
                     "; got " + std::string(name_of(type)));
    if (is_integer(type) && !of_integers) {
      d.help("convert it: " + quoted("f32(" + source + ")"));
      if (f.arity == 1 && source == session_.sources.text(spans[0])) d.fix(spans[0], "f32(" + source + ")");
    }
    session_.fail(std::move(d));
  }
  if (op == CellOp::shl || op == CellOp::shr) refuse_wide_shift(type, args[1], spans[1], frame);
  std::vector<CellId> ids;
  for (const Cell& arg : args) ids.push_back(arg.id);
  return make(frame, op, f.result == ir::CellResult::boolean ? ElementType::boolean : type, std::move(ids));
}

Cell CellElaborator::convert(const Cell& value, ElementType to, Frame& frame) {
  if (value.type == to) return value;
  // 16-bit floats are carried in f32: the value is rounded to `to` first.
  return {Cell::Kind::typed, frame.cells.cast(frame.cells.cast(value.id, to), compute_type(to)), to};
}

Cell CellElaborator::cast(const Env& env, ast::ExprId id, const ast::Call& call, ElementType to, Frame& frame) {
  Span span = env[id].span;
  if (call.args.size() != 1)
    session_.fail(Diagnostic(Code::wrong_argument_count, span,
                             "a conversion takes 1 argument; got " + std::to_string(call.args.size())));
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

// An operator on cells: its parameters are 0-d, its equations cell expressions, its locals lets.
Cell CellElaborator::inlined(const Env& env, ast::ExprId id, const ast::Call& call, Frame& frame,
                             std::optional<ElementType> expected) {
  Span span = env[id].span;
  const Definition* definition =
      call.callee.size() == 2
          ? session_.definitions.find_qualified(*env.scope, Sort::op, call.callee[0].text, call.callee[1].text)
          : session_.definitions.find(*env.scope, Sort::op, call.callee.back().text);
  const std::string& name = call.callee.back().text;
  if (!definition) {
    Diagnostic d(Code::unknown_name, call.callee.back().span, "there is no operator or function " + quoted(name));
    offer_definition(session_, env, Sort::op, call.callee.back(), d);
    session_.fail(std::move(d));
  }
  auto refuse = [&](const std::string& why) {
    session_.fail(Diagnostic(Code::not_inlinable, span, quoted(name) + " cannot be applied to cells: " + why)
                      .label(definition->name_span, "declared here")
                      .help("bind the whole tensor first, `h = " + name + "(…)`, and read its cells"));
  };
  const auto* op = definition->as<ast::OpDecl>();
  if (!op) refuse("it is an outside kernel");
  if (op->results.size() != 1) refuse("it has " + std::to_string(op->results.size()) + " results");
  for (const auto* open : inlining_)
    if (open == definition->declaration)
      session_.fail(Diagnostic(Code::recursion, span, quoted(name) + " is applied within its own definition"));
  if (op->inputs.size() != call.args.size())
    session_.fail(Diagnostic(Code::wrong_argument_count, span,
                             quoted(name) + " takes " + std::to_string(op->inputs.size()) + " arguments; got " +
                                 std::to_string(call.args.size()))
                      .label(definition->name_span, "declared here"));

  // Types of the arguments: literals take the parameter's type, or that of the typed arguments.
  std::vector<std::optional<ElementType>> types;
  std::optional<ElementType> generic = expected;
  bool found = false;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    Cell cell = elaborate(env, call.args[i].value, frame, std::nullopt);
    types.push_back(cell.is_literal() ? element_type_named(op->inputs[i].type.element.text) : std::optional(cell.type));
    if (!cell.is_literal() && !found && !element_type_named(op->inputs[i].type.element.text))
      generic = cell.type, found = true;
  }
  Env& callee = space_.new_scope(env);
  callee.parent = nullptr;
  callee.module = definition->module;
  callee.scope = definition->scope;
  std::vector<GivenTensor> given;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!types[i]) types[i] = generic;
    if (!types[i]) typed(env, call.args[i].value, frame, std::nullopt), types[i] = ElementType::i64;
    given.push_back({{*types[i], {}}, env[call.args[i].value].span});
  }
  bind_signature(session_, callee, signature_of(*definition), env, call.params, given, span);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    ThunkEntity argument{call.args[i].value, &env};
    argument.type = types[i];
    argument.span = env[call.args[i].value].span;
    callee.names[op->inputs[i].name.text] = argument;
  }
  // Every equation is a let; later ones see earlier ones.
  std::map<std::string, ast::ExprId> values;
  for (const auto& statement : op->body) {
    if (auto* binding = std::get_if<ast::Binding>(&statement.node);
        binding && binding->left.size() == 1 && !std::holds_alternative<ast::Iterate>(callee[binding->right].node)) {
      callee.names[binding->left[0].text] = ThunkEntity{binding->right, &callee};
      if (!values.emplace(binding->left[0].text, binding->right).second)
        refuse(quoted(binding->left[0].text) + " has several equations");
      continue;
    }
    auto* equation = std::get_if<ast::Equation>(&statement.node);
    if (!equation || equation->left.size() != 1 || !equation->ranges.empty())
      refuse("its body is not one equation per value");
    const ast::Cell& cell = equation->left[0];
    for (ast::ExprId index : cell.indices) {
      auto* pack = std::get_if<ast::PackRef>(&callee[index].node);
      if (!pack) refuse(quoted(cell.base.text) + " has an index");
      if (!callee.find_as<VarPackEntity>(pack->name)) space_.bind_empty_pack(callee, pack->name, cell.span);
    }
    if (!values.emplace(cell.base.text, equation->right).second)
      refuse(quoted(cell.base.text) + " has several equations");
    ThunkEntity local{equation->right, &callee};
    if (cell.base.text == op->results[0].name.text)
      local.type = eval_type(session_, callee, op->results[0].type.element);
    callee.names[cell.base.text] = local;
  }
  const std::string& result = op->results[0].name.text;
  if (!values.count(result)) refuse("its result " + quoted(result) + " has no equation");
  inlining_.push_back(definition->declaration);
  auto* bound = std::get_if<ThunkEntity>(&callee.names[result]);
  ElementType result_type = eval_type(session_, callee, op->results[0].type.element);
  Cell cell{
      Cell::Kind::typed,
      of_type(*bound->env, bound->expr, frame, result_type, op->results[0].type.element.span, "the result's type"),
      result_type};
  inlining_.pop_back();
  return cell;
}

}  // namespace tap
