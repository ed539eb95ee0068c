// Literals, which take the type of their context, and names: variables, dims, parameters, `let` aliases, components.
#include <cmath>

#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/cells/float_values.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"

namespace tap {

using ir::Scalar;

Cell CellElaborator::constant(Frame& frame, ElementType type, std::int64_t value, Span span) {
  if (is_bool(type))
    elaboration_.fail(Diagnostic(Code::type_mismatch, span, "expected bool; got the number " + std::to_string(value)));
  if (is_float(type)) return constant(frame, type, static_cast<double>(value), span);
  if (value < least_integer(type) || value > greatest_integer(type))
    elaboration_.fail(Diagnostic(Code::literal_out_of_range, span,
                                 std::to_string(value) + " is out of range for " + type_text(type) + ", which holds " +
                                     std::to_string(least_integer(type)) + " to " +
                                     std::to_string(greatest_integer(type))));
  return {Cell::Kind::typed, frame.cells.constant(Scalar::integer(type, value)), type};
}

Cell CellElaborator::constant(Frame& frame, ElementType type, double value, Span span) {
  Scalar rounded = Scalar::floating(type, value);
  if (std::isinf(rounded.f) && !std::isinf(value))
    elaboration_.fail(Diagnostic(Code::literal_out_of_range, span,
                                 quoted(source_of(elaboration_, span)) + " is out of range for " + type_text(type) +
                                     ": it would round to infinity"));
  if (Scalar::floating(compute_type(type), value).f == 0 && value != 0)
    elaboration_.report(Diagnostic(Code::literal_underflow, span,
                                   quoted(source_of(elaboration_, span)) + " rounds to 0 in " + type_text(type))
                            .help("write `0.0`")
                            .fix(span, "0.0"));
  return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(compute_type(type), value)), type};
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::IntLiteral& literal, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!expected) return {Cell::Kind::int_literal, {}, {}};
  auto value = literal.negated ? static_cast<std::int64_t>(0 - literal.magnitude)
                               : static_cast<std::int64_t>(literal.magnitude);
  if (is_bool(*expected)) refuse_number(env, env[id].span);
  return constant(frame, *expected, value, env[id].span);
}

// A number where a truth value is expected. If a generic type is bool, `T(0)` is correct for any type.
void CellElaborator::refuse_number(const Env& env, Span span) {
  std::string number = source_of(elaboration_, span), generic;
  for (const Env* at = &env; at; at = at->parent)
    for (const auto& [name, entity] : at->names)
      if (auto* type = std::get_if<TypeEntity>(&entity); type && is_bool(type->type))
        if (generic.empty() || name < generic) generic = name;
  Diagnostic d(Code::type_mismatch, span, "expected bool; got the number " + number);
  std::string fix_text = !generic.empty() ? generic + "(" + number + ")" : number == "0" ? "false" : "true";
  if (!generic.empty()) d.note(quoted(generic) + " is bool here");
  d.help((generic.empty() ? "write " : "for any type: ") + quoted(fix_text)).fix(span, fix_text);
  elaboration_.fail(std::move(d));
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::FloatLiteral& literal, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!expected) return {Cell::Kind::float_literal, {}, {}};
  if (!is_float(*expected))
    elaboration_.fail(Diagnostic(
        Code::type_mismatch, env[id].span,
        "expected " + type_text(*expected) + "; got the float " + quoted(source_of(elaboration_, env[id].span))));
  return constant(frame, *expected, literal.value, env[id].span);
}

Cell CellElaborator::node(const Env&, ast::ExprId, const ast::BoolLiteral& literal, Frame& frame,
                          std::optional<ElementType>) {
  return {Cell::Kind::typed, frame.cells.constant(Scalar::boolean(literal.value)), ElementType::boolean};
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::NameRef& name, Frame& frame,
                          std::optional<ElementType> expected) {
  return named(env, id, name.name, frame, expected);
}

Cell CellElaborator::named(const Env& env, ast::ExprId id, const std::string& name, Frame& frame,
                           std::optional<ElementType> expected) {
  Span span = env[id].span;
  const Entity* entity = env.find(name);
  if (!entity) elaboration_.fail(undefined(env, name, span));
  auto integer = [&](std::int64_t value) { return constant(frame, ElementType::i64, value, span); };
  if (auto* var = std::get_if<VarEntity>(entity)) return {Cell::Kind::typed, frame.index(var->var), ElementType::i64};
  if (auto* dim = std::get_if<DimEntity>(entity)) return integer(dim->size);
  if (auto* parameter = std::get_if<IntEntity>(entity)) return integer(parameter->value);
  if (auto* counter = std::get_if<CounterEntity>(entity))
    return {Cell::Kind::typed, frame.index(space_.counter(counter->depth, name, counter->trips, counter->span)),
            ElementType::i64};
  if (auto* parameter = std::get_if<FloatEntity>(entity)) {
    if (!expected) return {Cell::Kind::float_literal, {}, {}};
    if (!is_float(*expected))
      elaboration_.fail(Diagnostic(Code::type_mismatch, span,
                                   "expected " + type_text(*expected) + "; got the float parameter " + quoted(name)));
    return constant(frame, *expected, as_float(elaboration_, *parameter), span);
  }
  if (auto* parameter = std::get_if<BoolEntity>(entity))
    return {Cell::Kind::typed, frame.cells.constant(Scalar::boolean(parameter->value)), ElementType::boolean};
  if (auto* bound = std::get_if<ThunkEntity>(entity)) return thunk(*bound, frame, expected);
  if (auto* state = std::get_if<StateEntity>(entity); state && state->components->size() == 1) {
    ElementType type = state->components->front().type;
    return {Cell::Kind::typed, frame.cells.argument(state->first, compute_type(type)), type};
  }
  if (auto* tensor = std::get_if<TensorEntity>(entity)) {
    if (tensor->poisoned) throw Abandoned{};
    // The intended cell probably has the indices of the cell being written.
    auto indices = space_.left_indices(tensor->type.shape);
    std::string read = name + "[" + indices.value_or("…") + "]";
    Diagnostic d(Code::whole_tensor_arithmetic, span,
                 quoted(name) + " is a whole tensor " + to_string(tensor->type) + "; a cell of it is " + quoted(read));
    d.label(tensor->span, "defined here").help("write " + quoted(read));
    if (indices) d.fix(span, read);
    elaboration_.fail(std::move(d));
  }
  elaboration_.fail(Diagnostic(Code::wrong_kind_of_name, span,
                               quoted(name) + " is " + description(*entity) + ", not the value of a cell"));
}

Cell CellElaborator::thunk(const ThunkEntity& thunk, Frame& frame, std::optional<ElementType> expected) {
  auto known = [&](std::optional<ElementType> type) {
    std::vector<const Definition*> open;
    if (thunk.inlined_in) {
      open.assign(inlining_.begin(), inlining_.begin() + static_cast<std::ptrdiff_t>(*thunk.inlined_in));
      std::swap(open, inlining_);
    }
    Cell cell = thunk.type ? typed(*thunk.env, thunk.expr, frame, type)
                           : elaborate(*thunk.env, thunk.expr, frame, type);
    if (thunk.inlined_in) std::swap(open, inlining_);
    return cell;
  };
  if (thunk.type) return known(thunk.type);
  // A literal's type comes from the context of each use; a typed value is the same for all.
  Cell cell = known(std::nullopt);
  return cell.is_literal() && expected ? known(expected) : cell;
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Member& member, Frame& frame,
                          std::optional<ElementType>) {
  Span span = env[id].span;
  const ast::Expr& object = env[member.object];
  if (auto* name = std::get_if<ast::NameRef>(&object.node)) {
    if (auto* state = env.find_as<StateEntity>(name->name)) {
      const auto& components = *state->components;
      for (std::size_t i = 0; i < components.size(); ++i)
        if (components[i].name == member.member.text)
          return {Cell::Kind::typed,
                  frame.cells.argument(state->first + static_cast<std::uint32_t>(i), compute_type(components[i].type)),
                  components[i].type};
      std::vector<std::string> names;
      for (const auto& component : components) names.push_back(component.name);
      Diagnostic d(Code::unknown_name, member.member.span, "unknown component " + quoted(member.member.text));
      if (auto near = did_you_mean(member.member.text, names))
        d.help("did you mean " + quoted(*near) + "?").fix(member.member.span, *near);
      elaboration_.fail(std::move(d));
    }
    if (auto type = try_type(env, name->name)) {
      bool least = member.member.text == "min";
      if (!least && member.member.text != "max")
        elaboration_.fail(Diagnostic(Code::unknown_name, member.member.span,
                                     "a type has `min` and `max`; got " + quoted(member.member.text)));
      ElementType compute = is_float(*type) ? compute_type(*type) : *type;
      return {Cell::Kind::typed, frame.cells.constant(least ? Scalar::least(compute) : Scalar::greatest(compute)),
              *type};
    }
  }
  elaboration_.fail(not_a_member(env, source_of(elaboration_, span), member, span));
}

}  // namespace tap
