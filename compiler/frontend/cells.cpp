#include "compiler/frontend/cells.h"

#include <algorithm>
#include <cmath>

#include "compiler/frontend/body.h"
#include "compiler/frontend/builtins.h"
#include "compiler/frontend/index_walk.h"
#include "compiler/frontend/monoids.h"
#include "compiler/frontend/sizes.h"
#include "support/check.h"

namespace tap {

using ir::CellId;
using ir::CellOp;
using ir::Scalar;

namespace {

std::string type_text(ElementType type) { return std::string(name_of(type)); }

bool is_arithmetic(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::add:
    case ast::BinaryOp::sub:
    case ast::BinaryOp::mul:
    case ast::BinaryOp::div:
    case ast::BinaryOp::mod: return true;
    default: return false;
  }
}

CellOp cell_op(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::add: return CellOp::add;
    case ast::BinaryOp::sub: return CellOp::sub;
    case ast::BinaryOp::mul: return CellOp::mul;
    case ast::BinaryOp::div: return CellOp::div;
    case ast::BinaryOp::mod: return CellOp::mod;
    case ast::BinaryOp::equal: return CellOp::equal;
    case ast::BinaryOp::not_equal: return CellOp::not_equal;
    case ast::BinaryOp::less:
    case ast::BinaryOp::greater: return CellOp::less;
    case ast::BinaryOp::less_equal:
    case ast::BinaryOp::greater_equal: return CellOp::less_equal;
    case ast::BinaryOp::logical_and: return CellOp::logical_and;
    case ast::BinaryOp::logical_or: return CellOp::logical_or;
  }
  TAP_UNREACHABLE("binary operator");
}

}  // namespace

// ---- entry points ---------------------------------------------------------------------------------------------------

Cell CellElaborator::elaborate(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected) {
  struct Depth {
    int& depth;
    explicit Depth(int& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
  } nested(depth_);
  const ast::Expr& expr = env[id];
  if (depth_ > IndexWalker::max_depth)
    session_.fail(
        Diagnostic(Code::nesting_too_deep, expr.span,
                   "an expression nests deeper than " + std::to_string(IndexWalker::max_depth) + " operations"));
  return std::visit([&](const auto& n) { return node(env, id, n, frame, expected); }, expr.node);
}

Cell CellElaborator::typed(const Env& env, ast::ExprId id, Frame& frame, std::optional<ElementType> expected) {
  Cell cell = elaborate(env, id, frame, expected);
  if (!cell.is_literal()) return cell;
  if (cell.kind == Cell::Kind::int_literal) return elaborate(env, id, frame, ElementType::i64);
  Span span = env[id].span;
  std::string source = source_of(session_, span);
  session_.fail(
      Diagnostic(Code::needs_cast, span, "the type of " + quoted(source) + " does not follow from its context")
          .help("say which: " + quoted("f32(" + source + ")"))
          .fix(span, "f32(" + source + ")"));
}

CellId CellElaborator::of_type(const Env& env, ast::ExprId id, Frame& frame, ElementType type, Span why,
                               const std::string& why_text) {
  Cell cell = elaborate(env, id, frame, type);
  if (cell.is_literal()) cell = typed(env, id, frame, type);
  if (cell.type == type) return cell.id;
  Span span = env[id].span;
  std::string source = source_of(session_, span);
  Diagnostic d(Code::needs_cast, span, "wanted " + type_text(type) + "; got " + type_text(cell.type));
  d.at_caret("this is " + type_text(cell.type));
  if (why.valid()) d.label(why, why_text);
  if (!is_bool(type) && !is_bool(cell.type)) {
    d.help("convert it: " + quoted(type_text(type) + "(" + source + ")"));
    if (source == session_.sources.text(span)) d.fix(span, type_text(type) + "(" + source + ")");
  }
  session_.fail(std::move(d));
}

Cell CellElaborator::not_a_cell(const Env& env, ast::ExprId id) {
  const ast::Expr& expr = env[id];
  std::string what = quoted(source_of(session_, expr.span));
  std::string why = " is not the value of a cell";
  if (std::holds_alternative<ast::PackRef>(expr.node) || std::holds_alternative<ast::LinearIndex>(expr.node))
    why = " stands for indices and belongs inside brackets";
  if (std::holds_alternative<ast::Iterate>(expr.node)) why = " gives whole tensors: bind it with `name = iterate …`";
  if (std::holds_alternative<ast::Tuple>(expr.node)) why = " has several values; one is wanted here";
  session_.fail(Diagnostic(Code::type_mismatch, expr.span, what + why));
}

// ---- literals and names ---------------------------------------------------------------------------------------------

Cell CellElaborator::constant(Frame& frame, ElementType type, std::int64_t value, Span span) {
  if (is_bool(type))
    session_.fail(Diagnostic(Code::type_mismatch, span, "wanted bool; got the number " + std::to_string(value)));
  if (is_float(type))
    return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(compute_type(type), static_cast<double>(value))),
            type};
  if (value < least_integer(type) || value > greatest_integer(type))
    session_.fail(Diagnostic(Code::literal_out_of_range, span,
                             std::to_string(value) + " is not a value of " + type_text(type) + ", which holds " +
                                 std::to_string(least_integer(type)) + " to " +
                                 std::to_string(greatest_integer(type))));
  return {Cell::Kind::typed, frame.cells.constant(Scalar::integer(type, value)), type};
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::IntLiteral& literal, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!expected) return {Cell::Kind::int_literal, {}, {}};
  auto value = literal.negated ? static_cast<std::int64_t>(0 - literal.magnitude)
                               : static_cast<std::int64_t>(literal.magnitude);
  return constant(frame, *expected, value, env[id].span);
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::FloatLiteral& literal, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!expected) return {Cell::Kind::float_literal, {}, {}};
  if (!is_float(*expected))
    session_.fail(
        Diagnostic(Code::type_mismatch, env[id].span,
                   "wanted " + type_text(*expected) + "; got the float " + quoted(source_of(session_, env[id].span))));
  Scalar value = Scalar::floating(compute_type(*expected), literal.value);
  if (std::isinf(value.f) && !std::isinf(literal.value))
    session_.fail(Diagnostic(Code::literal_out_of_range, env[id].span,
                             quoted(source_of(session_, env[id].span)) + " is not a value of " + type_text(*expected) +
                                 ": it would be infinite"));
  return {Cell::Kind::typed, frame.cells.constant(value), *expected};
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
  if (!entity) {
    std::vector<std::string> known;
    for (const Env* e = &env; e; e = e->parent)
      for (const auto& [other, what] : e->names) known.push_back(other);
    std::sort(known.begin(), known.end());
    Diagnostic d(Code::unknown_name, span, quoted(name) + " is not defined");
    if (auto near = did_you_mean(name, known)) d.help("did you mean " + quoted(*near) + "?").fix(span, *near);
    session_.fail(std::move(d));
  }
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
      session_.fail(Diagnostic(Code::type_mismatch, span,
                               "wanted " + type_text(*expected) + "; got the float parameter " + quoted(name)));
    return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(compute_type(*expected), parameter->value)),
            *expected};
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
    std::string read = tensor->type.shape.empty() ? name + "[]" : name + "[…]";
    Diagnostic d(Code::whole_tensor_arithmetic, span,
                 quoted(name) + " is a whole tensor " + to_string(tensor->type) + "; a cell of it is " + quoted(read));
    d.label(tensor->span, "defined here").help("write " + quoted(read));
    if (tensor->type.shape.empty()) d.fix(span, read);
    session_.fail(std::move(d));
  }
  session_.fail(Diagnostic(Code::wrong_kind_of_name, span, quoted(name) + " does not stand for a value of a cell"));
}

Cell CellElaborator::thunk(const ThunkEntity& thunk, Frame& frame, std::optional<ElementType> expected) {
  auto key = std::tuple(thunk.expr.index(), thunk.env, guard_ids_.back());
  if (auto known = frame.memo.find(key); known != frame.memo.end()) return known->second;
  // A literal's type comes from the context of each use; a typed value is the same everywhere.
  Cell cell = thunk.type ? typed(*thunk.env, thunk.expr, frame, thunk.type)
                         : elaborate(*thunk.env, thunk.expr, frame, std::nullopt);
  if (cell.is_literal()) return expected ? elaborate(*thunk.env, thunk.expr, frame, expected) : cell;
  frame.memo[key] = cell;
  return cell;
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
      Diagnostic d(Code::unknown_name, member.member.span, "there is no component " + quoted(member.member.text));
      if (auto near = did_you_mean(member.member.text, names))
        d.help("did you mean " + quoted(*near) + "?").fix(member.member.span, *near);
      session_.fail(std::move(d));
    }
    if (auto type = try_type(env, name->name)) {
      bool least = member.member.text == "min";
      if (!least && member.member.text != "max")
        session_.fail(Diagnostic(Code::unknown_name, member.member.span,
                                 "a type has `min` and `max`; got " + quoted(member.member.text)));
      ElementType compute = is_float(*type) ? compute_type(*type) : *type;
      return {Cell::Kind::typed, frame.cells.constant(least ? Scalar::least(compute) : Scalar::greatest(compute)),
              *type};
    }
  }
  session_.fail(
      Diagnostic(Code::wrong_kind_of_name, span, quoted(source_of(session_, span)) + " is not the value of a cell"));
}

// ---- reads ----------------------------------------------------------------------------------------------------------

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Index& index, Frame& frame,
                          std::optional<ElementType> expected) {
  const std::string& name = index.base.text;
  for (const Env* e = &env; e; e = e->parent) {
    auto found = e->names.find(name);
    if (found == e->names.end()) continue;
    if (auto* tensor = std::get_if<TensorEntity>(&found->second)) return read_tensor(env, id, index, *tensor, frame);
    if (auto* bound = std::get_if<ThunkEntity>(&found->second)) {
      if (bound->fold_index) return thunk(*bound, frame, expected);
      // A cell that was passed to an inlined operator: its packs are empty.
      IndexedAt at{&env, &index.indices, env[id].span, name};
      Shape scalar;
      at.shape = &scalar;
      space_.expand(at);
      return thunk(*bound, frame, expected);
    }
    if (auto* operand = std::get_if<FoldOperandEntity>(&found->second)) {
      auto* at = index.indices.size() == 1 ? std::get_if<ast::NameRef>(&env[index.indices[0]].node) : nullptr;
      if (!at || at->name != fold_index_)
        session_.fail(Diagnostic(
            Code::bad_monoid, env[id].span,
            "an operand of a fold is read at the fold's index, as " + quoted(name + "[" + fold_index_ + "]")));
      return {Cell::Kind::typed, frame.cells.argument(operand->argument, compute_type(operand->type)), operand->type};
    }
  }
  if (!body_)
    session_.fail(Diagnostic(Code::bad_monoid, env[id].span,
                             "a monoid combines its two arguments only; " + quoted(name) + " cannot be read here"));
  std::vector<std::string> known;
  for (const Env* e = &env; e; e = e->parent)
    for (const auto& [other, entity] : e->names)
      if (std::holds_alternative<TensorEntity>(entity)) known.push_back(other);
  std::sort(known.begin(), known.end());
  Diagnostic d(env.find(name) ? Code::wrong_kind_of_name : Code::unknown_name, index.base.span,
               quoted(name) + (env.find(name) ? " is not a tensor" : " is not defined"));
  if (auto near = did_you_mean(name, known)) d.help("did you mean " + quoted(*near) + "?").fix(index.base.span, *near);
  session_.fail(std::move(d));
}

Cell CellElaborator::read_tensor(const Env& env, ast::ExprId id, const ast::Index& index, const TensorEntity& tensor,
                                 Frame& frame) {
  if (tensor.poisoned) throw Abandoned{};
  TAP_CHECK(body_, "tensors only in bodies");
  IndexedAt at{&env, &index.indices, env[id].span, index.base.text, &tensor.type.shape, &tensor.pattern};
  FrameRead read;
  read.value = body_->local_value(tensor);
  read.type = tensor.type;
  read.span = env[id].span;
  std::vector<std::optional<CellId>> coordinates;
  bool any = false;
  for (const AxisIndex& axis : space_.expand(at)) {
    std::optional<CellId> coordinate;
    VarAffine start;
    bool data = false;
    if (axis.kind == AxisIndex::Kind::expression) {
      IndexValue value = space_.value_of(env, axis.expr);
      if (auto* affine = std::get_if<VarAffine>(&value)) start = *affine;
      data = std::holds_alternative<DependsOnData>(value);
      if (std::holds_alternative<NotAffine>(value)) start = space_.affine_or_fail(env, axis);  // reports
    } else {
      start = space_.affine_or_fail(env, axis);
    }
    if (data) {
      Cell cell = typed(env, axis.expr, frame, ElementType::i64);
      if (!is_integer(cell.type))
        session_.fail(Diagnostic(Code::type_mismatch, env[axis.expr].span,
                                 "a coordinate is an integer; got " + type_text(cell.type)));
      coordinate = frame.cells.cast(cell.id, ElementType::i64);
      any = true;
    }
    read.start.push_back(std::move(start));
    coordinates.push_back(coordinate);
  }
  if (any) read.coordinates = std::move(coordinates);
  ElementType type = tensor.type.element;
  if (index.fill)
    read.fill = frame.cells.cast(
        of_type(env, *index.fill, frame, type, tensor.span, quoted(index.base.text) + " is " + type_text(type)), type);
  CellId cell = frame.read(std::move(read));
  return {Cell::Kind::typed, frame.cells.cast(cell, compute_type(type)), type};
}

// ---- operators ------------------------------------------------------------------------------------------------------

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Unary& unary, Frame& frame,
                          std::optional<ElementType> expected) {
  Span span = env[id].span;
  if (unary.op == ast::UnaryOp::logical_not) {
    CellId operand = of_type(env, unary.operand, frame, ElementType::boolean, span, "`not` takes bool");
    return make(frame, CellOp::logical_not, ElementType::boolean, {operand});
  }
  // -128 is a value of i8 though 128 is not.
  if (auto* literal = std::get_if<ast::IntLiteral>(&env[unary.operand].node);
      literal && !literal->negated && expected && !is_bool(*expected)) {
    if (is_float(*expected) && literal->magnitude == 0)
      return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(compute_type(*expected), -0.0)), *expected};
    return constant(frame, *expected, -static_cast<std::int64_t>(literal->magnitude), span);
  }
  Cell operand = elaborate(env, unary.operand, frame, expected);
  if (operand.is_literal()) return operand;
  if (is_bool(operand.type)) session_.fail(Diagnostic(Code::type_mismatch, span, "`-` takes a number; got bool"));
  const ir::CellNode& node = frame.cells[operand.id];
  if (node.op == CellOp::constant && is_float(node.type))
    return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(node.type, -node.value.f)), operand.type};
  return make(frame, CellOp::neg, operand.type, {operand.id});
}

void CellElaborator::mismatch(const Env& env, ast::ExprId left, ast::ExprId right, ElementType l, ElementType r,
                              Span op) {
  // The side that loses nothing is converted in the suggestion: integers to floats, small to large.
  bool convert_left = (is_float(r) && !is_float(l)) || (is_float(l) == is_float(r) && size_of(l) < size_of(r));
  Span span = env[convert_left ? left : right].span;
  ElementType to = convert_left ? r : l;
  std::string source = source_of(session_, span);
  Diagnostic d(Code::needs_cast, op, "both sides need one type; got " + type_text(l) + " and " + type_text(r));
  d.label(env[left].span, "this is " + type_text(l)).label(env[right].span, "this is " + type_text(r));
  if (!is_bool(l) && !is_bool(r)) {
    d.help("convert one: " + quoted(type_text(to) + "(" + source + ")"));
    if (source == session_.sources.text(span)) d.fix(span, type_text(to) + "(" + source + ")");
  }
  session_.fail(std::move(d));
}

CellElaborator::Pair CellElaborator::both(const Env& env, ast::ExprId left, ast::ExprId right, Frame& frame,
                                          std::optional<ElementType> expected, Span op) {
  Cell l = elaborate(env, left, frame, std::nullopt);
  Cell r = elaborate(env, right, frame, std::nullopt);
  if (l.is_literal() && r.is_literal()) {
    if (!expected) {
      if (l.kind == Cell::Kind::float_literal) return {l, l};
      return {r, r};
    }
    return {elaborate(env, left, frame, expected), elaborate(env, right, frame, expected)};
  }
  if (l.is_literal()) l = elaborate(env, left, frame, r.type);
  if (r.is_literal()) r = elaborate(env, right, frame, l.type);
  if (l.type != r.type) mismatch(env, left, right, l.type, r.type, op);
  return {l, r};
}

Cell CellElaborator::compare(const Env& env, const ast::Binary& b, ast::ExprId, Frame& frame) {
  Pair pair = both(env, b.left, b.right, frame, std::nullopt, b.op_span);
  if (pair.left.is_literal()) {  // 1 < 2
    ElementType type = pair.left.kind == Cell::Kind::float_literal ? ElementType::f64 : ElementType::i64;
    pair = both(env, b.left, b.right, frame, type, b.op_span);
  }
  bool equality = b.op == ast::BinaryOp::equal || b.op == ast::BinaryOp::not_equal;
  if (is_bool(pair.left.type) && !equality)
    session_.fail(Diagnostic(Code::type_mismatch, b.op_span,
                             "bool has no order; compare with `==` or `!=`, or use `and`, `or`, `not`"));
  bool swap = b.op == ast::BinaryOp::greater || b.op == ast::BinaryOp::greater_equal;
  std::vector<CellId> args{pair.left.id, pair.right.id};
  if (swap) std::swap(args[0], args[1]);
  return make(frame, cell_op(b.op), ElementType::boolean, std::move(args));
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Binary& b, Frame& frame,
                          std::optional<ElementType> expected) {
  if (b.op == ast::BinaryOp::logical_and || b.op == ast::BinaryOp::logical_or) {
    const char* why = b.op == ast::BinaryOp::logical_and ? "`and` takes bool" : "`or` takes bool";
    CellId left = of_type(env, b.left, frame, ElementType::boolean, b.op_span, why);
    push_guard(b.left, env, b.op == ast::BinaryOp::logical_or);
    CellId right = of_type(env, b.right, frame, ElementType::boolean, b.op_span, why);
    pop_guard();
    return make(frame, cell_op(b.op), ElementType::boolean, {left, right});
  }
  if (!is_arithmetic(b.op)) return compare(env, b, id, frame);
  Pair pair = both(env, b.left, b.right, frame, expected, b.op_span);
  if (pair.left.is_literal()) return pair.left.kind == Cell::Kind::float_literal ? pair.left : pair.right;
  ElementType type = pair.left.type;
  if (is_bool(type))
    session_.fail(Diagnostic(Code::type_mismatch, b.op_span, "arithmetic takes numbers; got bool")
                      .help("convert it, for example `i32(…)`"));
  if ((b.op == ast::BinaryOp::div || b.op == ast::BinaryOp::mod) && is_integer(type)) {
    const ir::CellNode& divisor = frame.cells[pair.right.id];
    if (divisor.op == CellOp::constant && divisor.value.i == 0)
      session_.fail(Diagnostic(Code::division_by_constant_zero, env[b.right].span,
                               "division by zero: the divisor is the constant 0"));
  }
  return make(frame, cell_op(b.op), type, {pair.left.id, pair.right.id});
}

// ---- choice and let -------------------------------------------------------------------------------------------------

void CellElaborator::push_guard(ast::ExprId condition, const Env& env, bool negated) {
  guards_.push_back({condition, &env, negated});
  auto key = std::tuple(guard_ids_.back(), condition.index(), &env, negated);
  auto known = known_guards_.emplace(key, static_cast<std::uint32_t>(known_guards_.size() + 1)).first;
  guard_ids_.push_back(known->second);
}

void CellElaborator::pop_guard() {
  guards_.pop_back();
  guard_ids_.pop_back();
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::If& choice, Frame& frame,
                          std::optional<ElementType> expected) {
  Span span = env[id].span;
  auto branches = [&](std::optional<ElementType> t, std::optional<ElementType> e) {
    push_guard(choice.condition, env, false);
    Cell yes = elaborate(env, choice.then_value, frame, t);
    pop_guard();
    push_guard(choice.condition, env, true);
    Cell no = elaborate(env, choice.else_value, frame, e);
    pop_guard();
    return Pair{yes, no};
  };
  CellId condition = of_type(env, choice.condition, frame, ElementType::boolean, span, "a condition is bool");
  Pair pair = branches(std::nullopt, std::nullopt);
  if (pair.left.is_literal() && pair.right.is_literal()) {
    if (!expected) return pair.left.kind == Cell::Kind::float_literal ? pair.left : pair.right;
    pair = branches(expected, expected);
  } else if (pair.left.is_literal() || pair.right.is_literal()) {
    ElementType type = pair.left.is_literal() ? pair.right.type : pair.left.type;
    pair = branches(type, type);
  }
  if (pair.left.type != pair.right.type)
    mismatch(env, choice.then_value, choice.else_value, pair.left.type, pair.right.type, span);
  return make(frame, CellOp::select, pair.left.type, {condition, pair.left.id, pair.right.id});
}

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Let& let, Frame& frame,
                          std::optional<ElementType> expected) {
  if (!space_.inner_scope(env, id)) space_.walk(env, id), space_.solve();
  return elaborate(*space_.inner_scope(env, id), let.body, frame, expected);
}

std::vector<CellId> CellElaborator::tuple(const Env& env, ast::ExprId id, Frame& frame,
                                          const std::vector<ElementType>& types, Span why) {
  const ast::Expr& expr = env[id];
  auto wrong_arity = [&](std::size_t got) {
    session_.fail(Diagnostic(Code::bad_monoid, expr.span,
                             "wanted " + std::to_string(types.size()) + " values; got " + std::to_string(got))
                      .label(why, "one for each component"));
  };
  if (auto* items = std::get_if<ast::Tuple>(&expr.node)) {
    if (items->items.size() != types.size()) wrong_arity(items->items.size());
    std::vector<CellId> cells;
    for (std::size_t i = 0; i < types.size(); ++i)
      cells.push_back(of_type(env, items->items[i], frame, types[i], why, "this component is " + type_text(types[i])));
    return cells;
  }
  if (auto* choice = std::get_if<ast::If>(&expr.node); choice && types.size() > 1) {
    CellId condition = of_type(env, choice->condition, frame, ElementType::boolean, expr.span, "a condition is bool");
    auto yes = tuple(env, choice->then_value, frame, types, why),
         no = tuple(env, choice->else_value, frame, types, why);
    std::vector<CellId> cells;
    for (std::size_t i = 0; i < types.size(); ++i)
      cells.push_back(yes[i] == no[i] ? yes[i] : make(frame, CellOp::select, types[i], {condition, yes[i], no[i]}).id);
    return cells;
  }
  if (auto* let = std::get_if<ast::Let>(&expr.node)) {
    if (!space_.inner_scope(env, id)) space_.walk(env, id), space_.solve();
    return tuple(*space_.inner_scope(env, id), let->body, frame, types, why);
  }
  if (auto* name = std::get_if<ast::NameRef>(&expr.node)) {
    const Entity* entity = env.find(name->name);
    if (auto* state = entity ? std::get_if<StateEntity>(entity) : nullptr) {
      std::vector<CellId> cells;
      for (std::size_t i = 0; i < types.size(); ++i)
        cells.push_back(frame.cells.argument(state->first + static_cast<std::uint32_t>(i), compute_type(types[i])));
      return cells;
    }
    if (auto* bound = entity ? std::get_if<ThunkEntity>(entity) : nullptr; bound && types.size() > 1)
      return tuple(*bound->env, bound->expr, frame, types, why);
  }
  if (types.size() != 1) wrong_arity(1);
  return {of_type(env, id, frame, types[0], why, "the component is " + type_text(types[0]))};
}

}  // namespace tap
