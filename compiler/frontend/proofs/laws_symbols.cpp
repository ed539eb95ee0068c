// The values of laws_symbols.h and their operations; laws_symbols_reals.cpp has those of floats.
#include "compiler/frontend/proofs/laws_symbols.h"

#include <cmath>

#include "support/check.h"

namespace tap {

using ir::CellOp;
using Value = SymbolAlgebra::Value;

Value SymbolAlgebra::real(ElementType type, z3::expr top, z3::expr bottom, std::optional<Linear> linear) {
  return {type, Kind::finite, expand(top), expand(bottom), std::move(linear), false};
}

// Expands into a sum of monomials. Each path shares most terms with the previous one.
z3::expr SymbolAlgebra::expand(const z3::expr& e) {
  auto known = expanded_.find(e.id());
  if (known == expanded_.end()) known = expanded_.emplace(e.id(), std::pair(e, e.simplify(sums_of_monomials_))).first;
  return known->second.second;
}
Value SymbolAlgebra::infinite(ElementType type, int sign) {
  return {type, sign > 0 ? Kind::plus_infinity : Kind::minus_infinity, z3_.real_val(0), one(), std::nullopt, false};
}
Value SymbolAlgebra::positive(Value v) {
  v.is_positive = v.kind == Kind::finite;
  return v;
}
z3::expr SymbolAlgebra::ratio(const Value& v) {
  return (v.bottom == one()).simplify().is_true() ? v.top : v.top / v.bottom;
}

Value SymbolAlgebra::variable(ElementType type, const std::string& name, int infinity) {
  if (is_bool(type)) return boolean(z3_.bool_const(name.c_str()));
  if (!is_float(type)) {
    unsigned width = 8 * static_cast<unsigned>(size_of(type));
    bool whole = integers_ == IntegerModel::whole_numbers;
    return integer(type, whole ? z3_.int_const(name.c_str()) : z3_.bv_const(name.c_str(), width));
  }
  if (infinity != 0 && decide(z3_.bool_const((name + " is infinite").c_str()))) return infinite(type, infinity);
  z3::expr value = z3_.real_const(name.c_str()), power = z3_.real_const(("exp " + name).c_str());
  assume(power > 0);
  Value result = real(type, value, one(), Linear{{atom_of({value, power, one(), false}), 1}});
  result.magnitude.kind = Magnitude::Kind::state;
  return result;
}

std::size_t SymbolAlgebra::atom_of(const Atom& atom) {
  auto [it, is_new] = atom_by_text_.emplace(atom.value.to_string(), atoms_.size());
  if (is_new) atoms_.push_back(atom);
  return it->second;
}

z3::expr SymbolAlgebra::integer_constant(ElementType type, std::int64_t value) {
  if (integers_ == IntegerModel::whole_numbers) return z3_.int_val(value);
  return z3_.bv_val(value, 8 * static_cast<unsigned>(size_of(type)));
}

// The exact value of the double, as a quotient of integers.
std::string exact_decimal(double f);

Value SymbolAlgebra::constant(const ir::Scalar& s) {
  if (is_bool(s.type)) return boolean(z3_.bool_val(s.i != 0));
  if (!is_float(s.type)) return integer(s.type, integer_constant(s.type, s.i));
  if (s.f != s.f) return nan(s.type);
  if (s.f - s.f != 0) return infinite(s.type, s.f > 0 ? 1 : -1);
  std::optional<Linear> linear;
  if (s.f == 0) linear = Linear{};
  Value result = real(s.type, z3_.real_val(exact_decimal(s.f).c_str()), one(), linear);
  result.degree = 0;
  result.magnitude.log2 = s.f == 0 ? -2000 : std::log2(std::fabs(s.f));
  return s.f > 0 ? positive(result) : result;
}

Value SymbolAlgebra::apply(const ir::CellNode& node, const std::vector<Value>& args) {
  spend(100);
  Value result = strict(node, args);
  if (measures_) {
    result.magnitude = magnitude_of(node, args, result);
    if (results_.contains(&node)) result.magnitude = {Magnitude::Kind::state};
  }
  return result;
}

Value SymbolAlgebra::strict(const ir::CellNode& node, const std::vector<Value>& args) {
  const Value& a = args[0];
  switch (info(node.op).kind) {
    case ir::CellKind::comparison:
      if (node.op == CellOp::isnan) return boolean(z3_.bool_val(is_nan(a)));
      if (node.op == CellOp::isinf) return boolean(z3_.bool_val(infinity(a) != 0));
      return compare(node.op, a, args[1]);
    case ir::CellKind::logical: return boolean(!a.top);
    case ir::CellKind::cast: return cast(node.type, a);
    default: return is_float(node.type) ? float_apply(node, args) : integer_apply(node, args);
  }
}

Value SymbolAlgebra::compare(CellOp op, const Value& a, const Value& b) {
  if (a.kind != Kind::finite || b.kind != Kind::finite) return compare_kinds(op, a, b);
  bool floats = is_float(a.type);
  may_not_vanish(a), may_not_vanish(b);
  note_tested(a, b);
  z3::expr x = floats ? ratio(a) : a.top, y = floats ? ratio(b) : b.top;
  switch (op) {
    case CellOp::equal: return boolean(x == y);
    case CellOp::not_equal: return boolean(x != y);
    case CellOp::less: return boolean(floats ? x < y : integer_less(a, b));
    case CellOp::less_equal: return boolean(floats ? x <= y : !integer_less(b, a));
    default: TAP_UNREACHABLE("not a comparison");
  }
}

// Compares -1 for minus infinity, 0 for reals, 1 for plus infinity. Pre: one is not finite.
Value SymbolAlgebra::compare_kinds(CellOp op, const Value& a, const Value& b) {
  bool numbers = !is_nan(a) && !is_nan(b);
  int x = infinity(a), y = infinity(b);
  switch (op) {
    case CellOp::equal: return boolean(z3_.bool_val(numbers && x == y));
    case CellOp::not_equal: return boolean(z3_.bool_val(!numbers || x != y));
    case CellOp::less: return boolean(z3_.bool_val(numbers && x < y));
    case CellOp::less_equal: return boolean(z3_.bool_val(numbers && x <= y));
    default: TAP_UNREACHABLE("not a comparison");
  }
}

z3::expr SymbolAlgebra::integer_less(const Value& a, const Value& b) {
  if (is_bool(a.type)) return !a.top && b.top;
  if (integers_ == IntegerModel::whole_numbers) return a.top < b.top;
  return info(a.type).is_signed ? z3::slt(a.top, b.top) : z3::ult(a.top, b.top);
}

Value SymbolAlgebra::integer_apply(const ir::CellNode& node, const std::vector<Value>& args) {
  const Value& a = args[0];
  if (is_bool(node.type)) throw GaveUp{"an operation on bool is not modelled"};
  switch (node.op) {
    case CellOp::neg: return integer(node.type, -a.top);
    case CellOp::add: return integer(node.type, a.top + args[1].top);
    case CellOp::sub: return integer(node.type, a.top - args[1].top);
    case CellOp::mul: return integer(node.type, a.top * args[1].top);
    case CellOp::min: return decide(integer_less(args[1], a)) ? args[1] : a;
    case CellOp::max: return decide(integer_less(a, args[1])) ? args[1] : a;
    case CellOp::abs: return decide(integer_less(a, constant(ir::Scalar::zero(a.type)))) ? integer(a.type, -a.top) : a;
    case CellOp::bitand_: return integer(node.type, a.top & args[1].top);
    case CellOp::bitor_: return integer(node.type, a.top | args[1].top);
    case CellOp::bitxor_: return integer(node.type, a.top ^ args[1].top);
    case CellOp::shl:
    case CellOp::shr: return shift(node.op, a, args[1]);
    case CellOp::bitnot: return integer(node.type, ~a.top);
    default: throw GaveUp{"an operation on integers is not modelled"};
  }
}

// Z3's shifts by the width or more agree with ours: 0, or -1 for `shr` of a negative number. Ours fail for negative
// amounts.
Value SymbolAlgebra::shift(CellOp op, const Value& a, const Value& by) {
  bool is_signed = info(a.type).is_signed;
  if (is_signed && decide(integer_less(by, constant(ir::Scalar::zero(by.type)))))
    throw GaveUp{"a shift may be by a negative number"};
  if (op == CellOp::shl) return integer(a.type, z3::shl(a.top, by.top));
  return integer(a.type, is_signed ? z3::ashr(a.top, by.top) : z3::lshr(a.top, by.top));
}

Value SymbolAlgebra::cast(ElementType type, const Value& a) {
  if (is_float(type) && is_float(a.type)) {
    if (!widens(a.type, type)) throw GaveUp{"a conversion to a narrower float rounds"};
    Value same = a;
    same.type = type;
    return same;
  }
  if (is_bool(a.type)) return decide(a.top) ? constant(ir::Scalar::one(type)) : constant(ir::Scalar::zero(type));
  if (is_bool(type)) return compare(CellOp::not_equal, a, constant(ir::Scalar::zero(a.type)));
  if (is_float(type) || is_float(a.type) || integers_ == IntegerModel::whole_numbers)
    throw GaveUp{"a conversion between float and integer rounds"};
  unsigned from = 8 * static_cast<unsigned>(size_of(a.type)), to = 8 * static_cast<unsigned>(size_of(type));
  if (to <= from) return integer(type, a.top.extract(to - 1, 0));
  return integer(type, info(a.type).is_signed ? z3::sext(a.top, to - from) : z3::zext(a.top, to - from));
}

}  // namespace tap
