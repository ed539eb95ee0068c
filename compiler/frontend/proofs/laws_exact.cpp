#include "compiler/frontend/proofs/laws_exact.h"

#include <limits>

#include "compiler/frontend/proofs/laws_samples.h"
#include "ir/graph.h"
#include "ir/interpret/interpret_number.h"
#include "support/check.h"

namespace tap {
namespace {

using ir::CellOp;
using ExactValue = ExactAlgebra::Value;
using Kind = ExactAlgebra::Kind;
using Rational = boost::multiprecision::cpp_rational;

ExactValue infinite(ElementType type, int sign) { return {type, Kind::infinite, sign, 0}; }
ExactValue not_a_number(ElementType type) { return {type, Kind::nan, 0, 0}; }

unsigned bits_of(const boost::multiprecision::cpp_int& i) { return i.is_zero() ? 0 : msb(abs(i)) + 1; }

// A fraction that keeps growing, as in `let p = a.v + b.v, q = p * p, r = q * q, …`, soon exceeds any float.
ExactValue finite(ElementType type, Rational number) {
  constexpr unsigned longest = 8192;
  if (bits_of(numerator(number)) + bits_of(denominator(number)) > longest) throw NotKnown{};
  return {type, Kind::finite, std::move(number), 0};
}
ExactValue truth_value(bool holds) { return {ElementType::boolean, Kind::finite, 0, holds}; }

// -1, 0, 1 for a less than, equal to and greater than b. Pre: neither is NaN.
int order(const ExactValue& a, const ExactValue& b) {
  bool a_infinite = a.kind == Kind::infinite, b_infinite = b.kind == Kind::infinite;
  if (a_infinite && b_infinite) return a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
  if (a_infinite) return a.number < 0 ? -1 : 1;
  if (b_infinite) return b.number < 0 ? 1 : -1;
  return a.number < b.number ? -1 : a.number > b.number ? 1 : 0;
}
int sign(const ExactValue& v) { return v.number < 0 ? -1 : v.number > 0 ? 1 : 0; }

ExactValue negated(ExactValue v) {
  v.number = -v.number;
  return v;
}
ExactValue sum(const ExactValue& a, const ExactValue& b) {
  if (a.kind == Kind::infinite && b.kind == Kind::infinite) return sign(a) == sign(b) ? a : not_a_number(a.type);
  if (a.kind == Kind::infinite) return a;
  if (b.kind == Kind::infinite) return b;
  return finite(a.type, a.number + b.number);
}
ExactValue product(const ExactValue& a, const ExactValue& b) {
  if (a.kind == Kind::finite && b.kind == Kind::finite) return finite(a.type, a.number * b.number);
  int s = sign(a) * sign(b);
  return s == 0 ? not_a_number(a.type) : infinite(a.type, s);
}
ExactValue quotient(const ExactValue& a, const ExactValue& b) {
  if (b.kind == Kind::infinite) return a.kind == Kind::infinite ? not_a_number(a.type) : finite(a.type, 0);
  if (b.number == 0 && a.kind == Kind::finite && sign(a) == 0) return not_a_number(a.type);
  if (b.number == 0) throw NotKnown{};  // an infinity with the sign of the zero, which fractions do not have
  if (a.kind == Kind::infinite) return infinite(a.type, sign(a) * sign(b));
  return finite(a.type, a.number / b.number);
}

ExactValue float_operation(CellOp op, ElementType type, const ExactValue& a, const ExactValue& b) {
  if (a.kind == Kind::nan || b.kind == Kind::nan) return not_a_number(type);
  switch (op) {
    case CellOp::neg: return negated(a);
    case CellOp::abs: return sign(a) < 0 ? negated(a) : a;
    case CellOp::sign: return finite(type, sign(a));
    case CellOp::add: return sum(a, b);
    case CellOp::sub: return sum(a, negated(b));
    case CellOp::mul: return product(a, b);
    case CellOp::div: return quotient(a, b);
    case CellOp::min: return order(b, a) < 0 ? b : a;
    case CellOp::max: return order(a, b) < 0 ? b : a;
    default: TAP_UNREACHABLE("not an operation on fractions");
  }
}

bool float_comparison(CellOp op, const ExactValue& a, const ExactValue& b) {
  bool number = a.kind != Kind::nan && b.kind != Kind::nan;
  switch (op) {
    case CellOp::isnan: return !number;
    case CellOp::isinf: return a.kind == Kind::infinite;
    case CellOp::equal: return number && order(a, b) == 0;
    case CellOp::not_equal: return !number || order(a, b) != 0;
    case CellOp::less: return number && order(a, b) < 0;
    case CellOp::less_equal: return number && order(a, b) <= 0;
    default: TAP_UNREACHABLE("not a comparison");
  }
}

bool fractions_do(const ir::CellExprs& exprs, const ir::CellNode& node) {
  switch (info(node.op).kind) {
    case ir::CellKind::leaf:
    case ir::CellKind::comparison:
    case ir::CellKind::logical:
    case ir::CellKind::lazy:
    case ir::CellKind::reduction:
    case ir::CellKind::integer_function: return true;
    case ir::CellKind::cast: {
      ElementType from = exprs[node.args[0]].type;
      return is_float(from) ? is_float(node.type) && size_of(node.type) >= size_of(from) : true;
    }
    case ir::CellKind::arithmetic:
    case ir::CellKind::function: break;
  }
  if (!is_float(node.type)) return true;
  switch (node.op) {
    case CellOp::neg:
    case CellOp::abs:
    case CellOp::sign:
    case CellOp::add:
    case CellOp::sub:
    case CellOp::mul:
    case CellOp::div:
    case CellOp::min:
    case CellOp::max: return true;
    default: return false;
  }
}

}  // namespace

bool is_exact(const ir::Program& program, const ir::Monoid& monoid) {
  return !any_cell(monoid, [&](const ir::CellExprs& exprs, const ir::CellNode& node) {
    if (node.op == CellOp::reduce && !is_exact(program, program[ir::MonoidId(node.attribute)])) return true;
    return !fractions_do(exprs, node);
  });
}

ExactValue ExactAlgebra::constant(const ir::Scalar& s) const {
  if (!is_float(s.type)) return {s.type, Kind::finite, 0, s.i};
  if (s.f != s.f) return not_a_number(s.type);
  if (s.f - s.f != 0) return infinite(s.type, s.f > 0 ? 1 : -1);
  return finite(s.type, Rational(s.f));
}

ExactValue ExactAlgebra::apply(const ir::CellNode& node, const std::vector<ExactValue>& args) const {
  const ExactValue& a = args[0];
  const ExactValue& b = args.back();
  bool floats = is_float(a.type);
  if (node.op == CellOp::cast) {
    if (floats) return {node.type, a.kind, a.number, 0};
    if (is_float(node.type)) return finite(node.type, a.integer);
    return {node.type, Kind::finite, 0, ir::oracle::apply_cast(a.type, node.type, ir::oracle::integer(a.integer)).i};
  }
  if (!floats) {
    try {
      auto x = ir::oracle::integer(a.integer), y = ir::oracle::integer(b.integer);
      return {node.type, Kind::finite, 0, ir::oracle::apply_integer(node.op, a.type, x, y).i};
    } catch (const ir::oracle::CellFailure&) { throw NoValue{}; }
  }
  if (info(node.op).kind == ir::CellKind::comparison) return truth_value(float_comparison(node.op, a, b));
  return float_operation(node.op, node.type, a, b);
}

Answer ExactAlgebra::agree(const ExactValue& a, const ExactValue& b, int infinity) const {
  auto is_number = [&](const ExactValue& v) {
    return v.kind == Kind::finite || (v.kind == Kind::infinite && sign(v) == infinity);
  };
  if (!is_number(a) && !is_number(b)) return Answer::not_known;  // both undefined: the law does not apply
  if (!is_number(a) || !is_number(b)) return Answer::fails;
  return (is_float(a.type) ? order(a, b) == 0 : a.integer == b.integer) ? Answer::holds : Answer::fails;
}

ir::Scalar ExactAlgebra::scalar(const ExactValue& v) {
  if (!is_float(v.type)) return {v.type, v.integer, 0};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (v.kind) {
    case Kind::nan: return {v.type, 0, std::numeric_limits<double>::quiet_NaN()};
    case Kind::infinite: return {v.type, 0, v.number > 0 ? infinity : -infinity};
    case Kind::finite: break;
  }
  return {v.type, 0, v.number.convert_to<double>()};
}

}  // namespace tap
