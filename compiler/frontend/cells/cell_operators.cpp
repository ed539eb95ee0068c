// Unary and binary operators: both sides have one type, literals take it from the other side.
#include "compiler/frontend/cells/cell_constants.h"
#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/cells/conversions.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "support/check.h"

namespace tap {

using ir::CellId;
using ir::CellOp;
using ir::Scalar;

namespace {

bool is_arithmetic_or_mod(ast::BinaryOp op) {
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

Cell CellElaborator::node(const Env& env, ast::ExprId id, const ast::Unary& unary, Frame& frame,
                          std::optional<ElementType> expected) {
  Span span = env[id].span;
  if (unary.op == ast::UnaryOp::logical_not) {
    CellId operand = of_type(env, unary.operand, frame, ElementType::boolean, span, "`not` takes bool");
    return make(frame, CellOp::logical_not, ElementType::boolean, {operand});
  }
  // -128 is a value of i8 although 128 is not.
  if (auto* literal = std::get_if<ast::IntLiteral>(&env[unary.operand].node);
      literal && !literal->negated && expected && !is_bool(*expected)) {
    if (is_float(*expected) && literal->magnitude == 0)
      return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(compute_type(*expected), -0.0)), *expected};
    return constant(frame, *expected, -static_cast<std::int64_t>(literal->magnitude), span);
  }
  Cell operand = elaborate(env, unary.operand, frame, expected);
  if (operand.is_literal()) return operand;
  if (is_bool(operand.type)) elaboration_.fail(Diagnostic(Code::type_mismatch, span, "`-` takes a number; got bool"));
  const ir::CellNode& node = frame.cells[operand.id];
  if (node.op == CellOp::constant && is_float(node.type))
    return {Cell::Kind::typed, frame.cells.constant(Scalar::floating(node.type, -node.value.f)), operand.type};
  return make(frame, CellOp::neg, operand.type, {operand.id});
}

void CellElaborator::mismatch(const Env& env, ast::ExprId left, ast::ExprId right, ElementType l, ElementType r,
                              Span op) {
  // The suggestion converts the side that loses nothing: truth values to numbers, integers to floats, small to large
  // types.
  bool convert_left = is_bool(l) || (is_float(r) && !is_float(l)) ||
                      (!is_bool(r) && is_float(l) == is_float(r) && size_of(l) < size_of(r));
  Diagnostic d(Code::needs_cast, op,
               "both sides must have the same type; got " + type_text(l) + " and " + type_text(r));
  d.label(env[left].span, "this is " + type_text(l)).label(env[right].span, "this is " + type_text(r));
  offer_conversion(elaboration_, env, convert_left ? left : right, convert_left ? l : r, convert_left ? r : l, d,
                   "convert one");
  elaboration_.fail(std::move(d));
}

// 0.5 * n: the literal cannot take the integer's type.
void CellElaborator::refuse_float_with_integer(const Env& env, ast::ExprId literal, const Cell& l, ast::ExprId typed,
                                               const Cell& t, Span op) {
  if (l.kind != Cell::Kind::float_literal || t.is_literal() || !is_integer(t.type)) return;
  std::string number = source_of(elaboration_, env[literal].span);
  Diagnostic d(Code::needs_cast, op,
               "both sides must have the same type; got the float " + quoted(number) + " and " + type_text(t.type));
  d.label(env[typed].span, "this is " + type_text(t.type));
  offer_conversion(elaboration_, env, typed, t.type, offered_, d);
  elaboration_.fail(std::move(d));
}

CellElaborator::Pair CellElaborator::both(const Env& env, ast::ExprId left, ast::ExprId right, Frame& frame,
                                          std::optional<ElementType> expected, Span op) {
  Cell l = elaborate(env, left, frame, std::nullopt);
  ElementType offered = offered_;
  if (!l.is_literal()) offer_float(l.type);
  Cell r = elaborate(env, right, frame, std::nullopt);
  offered_ = offered;
  if (l.is_literal() && r.is_literal()) {
    if (!expected) {
      if (l.kind == Cell::Kind::float_literal) return {l, l};
      return {r, r};
    }
    return {elaborate(env, left, frame, expected), elaborate(env, right, frame, expected)};
  }
  refuse_float_with_integer(env, left, l, right, r, op);
  refuse_float_with_integer(env, right, r, left, l, op);
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
    elaboration_.fail(Diagnostic(Code::type_mismatch, b.op_span,
                                 "bools are not ordered; compare with `==` or `!=`, or use `and`, `or`, `not`"));
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
    push_guard(b.left, env, b.op == ast::BinaryOp::logical_or, frame, left);
    CellId right = of_type(env, b.right, frame, ElementType::boolean, b.op_span, why);
    pop_guard();
    return make(frame, cell_op(b.op), ElementType::boolean, {left, right});
  }
  if (!is_arithmetic_or_mod(b.op)) return compare(env, b, id, frame);
  Pair pair = both(env, b.left, b.right, frame, expected, b.op_span);
  if (pair.left.is_literal()) return pair.left.kind == Cell::Kind::float_literal ? pair.left : pair.right;
  ElementType type = pair.left.type;
  if (is_bool(type))
    elaboration_.fail(Diagnostic(Code::type_mismatch, b.op_span, "arithmetic takes numbers; got bool")
                          .help("convert it, for example `i32(…)`; combine bools with `and`, `or`, `not`"));
  if ((b.op == ast::BinaryOp::div || b.op == ast::BinaryOp::mod) && is_integer(type)) {
    auto divisor = constant_value(frame.cells, pair.right.id);
    if (divisor && divisor->i == 0 && may_be_reached())
      elaboration_.fail(Diagnostic(Code::division_by_constant_zero, env[b.right].span,
                                   "division by zero: the divisor is the constant 0"));
  }
  return make(frame, cell_op(b.op), type, {pair.left.id, pair.right.id});
}

}  // namespace tap
