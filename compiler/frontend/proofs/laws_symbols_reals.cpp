// The floats of laws_symbols.h: fractions of polynomials, the infinities, and exponentials of sums.
#include <algorithm>
#include <cmath>

#include "compiler/frontend/proofs/laws_symbols.h"
#include "support/check.h"

namespace tap {
namespace {

// Checked before a product is expanded: its size grows with the degree, which doubles with every `let b = a * a`.
unsigned product_degree(const SymbolAlgebra::Value& a, const SymbolAlgebra::Value& b) {
  constexpr unsigned highest = 64, most_monomials = 4096;
  unsigned degree = a.degree + b.degree;
  auto monomials = [](const z3::expr& e) { return e.is_app() && e.decl().decl_kind() == Z3_OP_ADD ? e.num_args() : 1; };
  unsigned largest = std::max(monomials(a.top), monomials(a.bottom)) * std::max(monomials(b.top), monomials(b.bottom));
  if (degree > highest || largest > most_monomials)
    throw SymbolAlgebra::GaveUp{"the polynomials in the proof are too large"};
  return degree;
}

bool is_numeral_zero(const z3::expr& e) {
  std::int64_t value = 1;
  return e.is_numeral_i64(value) && value == 0;
}

}  // namespace

using ir::CellOp;
using Value = SymbolAlgebra::Value;

// Digits of an integer and a power of two: "-3/4".
std::string exact_decimal(double f) {
  int exponent;
  double mantissa = std::frexp(f, &exponent);  // f = mantissa * 2^exponent
  if (std::abs(exponent) > 1000) throw SymbolAlgebra::GaveUp{"a constant is too large or too close to zero"};
  auto digits = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  while (digits != 0 && digits % 2 == 0 && exponent < 0) digits /= 2, ++exponent;
  std::string power = "1";  // 2^|exponent|, in decimal
  for (int k = 0; k < std::abs(exponent); ++k) {
    int carry = 0;
    for (auto digit = power.rbegin(); digit != power.rend(); ++digit) {
      int twice = 2 * (*digit - '0') + carry;
      *digit = static_cast<char>('0' + twice % 10);
      carry = twice / 10;
    }
    if (carry != 0) power.insert(power.begin(), '1');
  }
  if (exponent < 0) return std::to_string(digits) + "/" + power;
  if (std::abs(f) >= 9e18) throw SymbolAlgebra::GaveUp{"a constant is too large or too close to zero"};
  return std::to_string(static_cast<std::int64_t>(f));
}

int SymbolAlgebra::sign_of(const Value& v) {
  if (v.kind != Kind::finite) return infinity(v);
  may_not_vanish(v);
  if (v.is_positive) return 1;
  z3::expr x = ratio(v);
  if (decide(x > 0)) return 1;
  return decide(x == 0) ? 0 : -1;
}

// Gives up if it matters whether a value is 0. Sums of positive terms are known to be nonzero: 1 + e^x is not 0, but 1
// + e^x - 1 may be.
void SymbolAlgebra::may_not_vanish(const Value& v) const {
  if (v.vanishes || (v.has_exponential && !v.is_positive)) throw GaveUp{"an exponential may round to 0"};
}
void SymbolAlgebra::must_stay_below(const Value& v, std::int64_t bound) {
  if (infinity(v) < 0) return;
  if (infinity(v) > 0 || may_be(ratio(v) > z3_.real_val(bound))) throw GaveUp{"an exponential may overflow"};
}

Value SymbolAlgebra::negated(const Value& a) {
  if (is_nan(a)) return a;
  if (a.kind != Kind::finite) return infinite(a.type, -infinity(a));
  Value result = real(a.type, -a.top, a.bottom, a.linear);
  result.degree = a.degree;
  result.vanishes = a.vanishes;
  result.has_exponential = a.has_exponential;
  if (a.rounded) result.rounded = std::make_shared<Rounded>(Rounded{false, a, real(a.type, -1)});
  if (result.linear) {
    for (auto& [atom, factor] : *result.linear) factor = -factor;
  }
  return result;
}

Value SymbolAlgebra::sum(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b) || infinity(a) * infinity(b) < 0) return nan(a.type);
  if (a.kind != Kind::finite) return a;
  if (b.kind != Kind::finite) return b;
  if (is_numeral_zero(a.top)) return b;
  if (is_numeral_zero(b.top)) return a;
  std::optional<Linear> linear;
  if (a.linear && b.linear) {
    linear = a.linear;
    for (auto [atom, factor] : *b.linear) (*linear)[atom] += factor;
    std::erase_if(*linear, [](const auto& term) { return term.second == 0; });
  }
  bool same_bottom = (a.bottom == b.bottom).simplify().is_true();
  unsigned degree = same_bottom ? std::max(a.degree, b.degree) : product_degree(a, b);
  Value result = same_bottom ? real(a.type, a.top + b.top, a.bottom, linear)
                             : real(a.type, a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom, linear);
  result.degree = degree;
  bool positives = a.is_positive && b.is_positive;
  result.vanishes = positives ? a.vanishes && b.vanishes : a.vanishes || b.vanishes;
  result.has_exponential = a.has_exponential || b.has_exponential;
  result.rounded = std::make_shared<Rounded>(Rounded{true, a, b});
  return positives ? positive(result) : result;
}

Value SymbolAlgebra::product(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b)) return nan(a.type);
  if (a.kind == Kind::finite && b.kind == Kind::finite) {
    unsigned degree = product_degree(a, b);
    Value result = real(a.type, a.top * b.top, a.bottom * b.bottom);
    result.degree = degree;
    result.vanishes = a.vanishes || b.vanishes;
    result.has_exponential = a.has_exponential || b.has_exponential;
    result.rounded = std::make_shared<Rounded>(Rounded{false, a, b});
    return a.is_positive && b.is_positive ? positive(result) : result;
  }
  int sign = sign_of(a) * sign_of(b);
  return sign == 0 ? nan(a.type) : infinite(a.type, sign);
}

// 0 / 0 is NaN; any other number by 0 is an infinity with the sign of the zero, which reals do not have.
Value SymbolAlgebra::quotient(const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b) || (infinity(a) != 0 && infinity(b) != 0)) return nan(a.type);
  if (b.kind != Kind::finite) return real(a.type, 0);
  may_not_vanish(b);
  must_have_exact_sign(b);
  if (!b.is_positive && decide(b.top == 0)) {
    if (a.kind == Kind::finite && !a.is_positive && decide(a.top == 0)) return nan(a.type);
    throw GaveUp{"a division by 0 is not excluded"};
  }
  if (a.kind != Kind::finite) return infinite(a.type, infinity(a) * sign_of(b));
  unsigned degree = product_degree(a, b);
  Value result = real(a.type, a.top * b.bottom, a.bottom * b.top);
  result.degree = degree;
  result.vanishes = a.vanishes;
  result.has_exponential = a.has_exponential || b.has_exponential;
  result.rounded = std::make_shared<Rounded>(Rounded{false, a, b});
  return a.is_positive && b.is_positive ? positive(result) : result;
}

Value SymbolAlgebra::exponential_of(ElementType type, const Linear& linear) {
  uses_powers_ = true;
  z3::expr top = one(), bottom = one();
  unsigned degree = 0;
  for (auto [atom, factor] : linear) {
    if (std::abs(factor) > 8) throw GaveUp{"the polynomials in the proof are too large"};
    degree += static_cast<unsigned>(std::abs(factor));
    for (std::int64_t k = 0; k < std::abs(factor); ++k) {
      top = top * (factor > 0 ? atoms_[atom].top : atoms_[atom].bottom);
      bottom = bottom * (factor > 0 ? atoms_[atom].bottom : atoms_[atom].top);
    }
  }
  Value result = real(type, top, bottom);
  result.degree = degree;
  return positive(result);
}

Value SymbolAlgebra::exponential(const Value& a) {
  if (is_nan(a)) return a;
  if (a.kind != Kind::finite) return infinity(a) > 0 ? a : real(a.type, 0);
  if (!a.linear) throw GaveUp{"an exponential of anything but a sum of components is not modelled"};
  return exponential_of(a.type, *a.linear);
}

// Exponentials overflow or vanish at small arguments: e^89 is infinite in f32, and e^-104 is 0.
Value SymbolAlgebra::overflowing_exponential(const Value& a) {
  constexpr std::int64_t bound = 80;
  if (is_nan(a)) return a;
  must_stay_below(a, bound);
  Value result = exponential(a);
  if (a.kind != Kind::finite) return result;
  result.vanishes = may_be(ratio(a) < z3_.real_val(-bound));
  result.has_exponential = true;
  return result;
}

// log(s) is a new atom whose exponential is s.
Value SymbolAlgebra::logarithm(const Value& a) {
  if (is_nan(a) || infinity(a) > 0) return a;
  int sign = sign_in_domain(a);
  if (sign <= 0) return sign == 0 ? infinite(a.type, -1) : nan(a.type);
  z3::expr value = z3_.real_const(("log " + ratio(a).to_string()).c_str());
  return real(a.type, value, one(), Linear{{atom_of({value, a.top, a.bottom, true}), 1}});
}

Value SymbolAlgebra::square_root(const Value& a) {
  if (is_nan(a) || infinity(a) > 0) return a;
  int sign = sign_in_domain(a);
  if (sign <= 0) return sign == 0 ? a : nan(a.type);
  z3::expr root = z3_.real_const(("sqrt " + ratio(a).to_string()).c_str());
  assume(root > 0 && root * root * a.bottom == a.top);
  Value result = positive(real(a.type, root, one()));
  result.has_exponential = a.has_exponential;
  return result;
}

// Any other function: only that equal arguments give equal results is known.
Value SymbolAlgebra::opaque(const ir::CellNode& node, const std::vector<Value>& args) {
  z3::sort_vector sorts(z3_);
  z3::expr_vector values(z3_);
  for (const Value& arg : args) {
    if (is_nan(arg)) return arg;
    if (arg.kind != Kind::finite) throw GaveUp{"a function of an infinity is not modelled"};
    sorts.push_back(z3_.real_sort());
    values.push_back(ratio(arg));
  }
  for (const Value& arg : args) may_not_vanish(arg);
  z3::func_decl function = z3_.function(std::string(info(node.op).name).c_str(), sorts, z3_.real_sort());
  return real(node.type, function(values), one());
}

// Written so that it does not overflow: 1 / (1 + e^-a).
Value SymbolAlgebra::logistic(const Value& a) {
  Value unit = real(a.type, 1);
  Value result = quotient(unit, sum(unit, exponential(negated(a))));
  if (a.kind != Kind::finite) return result;
  result.vanishes = may_be(ratio(a) < z3_.real_val(-80));
  result.has_exponential = true;
  return result;
}

// Functions that are undefined, or not real, outside a part of the line.
Value SymbolAlgebra::with_domain(const ir::CellNode& node, const std::vector<Value>& args) {
  const Value& a = args[0];
  if (is_nan(a)) return a;
  if (a.kind != Kind::finite) throw GaveUp{"a function of an infinity is not modelled"};
  z3::expr x = ratio(a);
  may_not_vanish(a);
  must_have_exact_sign(a);
  switch (node.op) {
    case CellOp::asin:
    case CellOp::acos: return decide(x >= -1 && x <= 1) ? opaque(node, args) : nan(node.type);
    case CellOp::acosh: return decide(x >= 1) ? opaque(node, args) : nan(node.type);
    case CellOp::atanh:
      if (decide(x == 1)) return infinite(node.type, 1);
      if (decide(x == -1)) return infinite(node.type, -1);
      return decide(x > -1 && x < 1) ? opaque(node, args) : nan(node.type);
    case CellOp::sinh:
    case CellOp::cosh:
      must_stay_below(a, 80);
      must_stay_below(negated(a), 80);
      return opaque(node, args);
    default: TAP_UNREACHABLE("a function whose domain is not known");
  }
}

// For a constant integer exponent, never NaN. Others overflow as exponentials do.
Value SymbolAlgebra::power(const ir::CellNode& node, const Value& a, const Value& b) {
  if (is_nan(a) || is_nan(b) || a.kind != Kind::finite || b.kind != Kind::finite)
    throw GaveUp{"a function of an infinity is not modelled"};
  z3::expr exponent = ratio(b).simplify();
  std::int64_t whole = 0;
  if (!exponent.is_numeral_i64(whole) || whole < 0 || whole > 8) throw GaveUp{"a power may overflow"};
  Value result = real(node.type, 1);
  for (; whole > 0; --whole) result = product(result, a);
  return result;
}

Value SymbolAlgebra::float_apply(const ir::CellNode& node, const std::vector<Value>& args) {
  const Value& a = args[0];
  Value unit = real(node.type, 1);
  switch (node.op) {
    case CellOp::neg: return negated(a);
    case CellOp::add: return sum(a, args[1]);
    case CellOp::sub: return sum(a, negated(args[1]));
    case CellOp::mul: return product(a, args[1]);
    case CellOp::div: return quotient(a, args[1]);
    case CellOp::min:
    case CellOp::max:
      if (is_nan(a) || is_nan(args[1])) return nan(node.type);
      return truth(compare(CellOp::less, a, args[1])) == (node.op == CellOp::max) ? args[1] : a;
    case CellOp::abs: return !is_nan(a) && truth(compare(CellOp::less, a, real(a.type, 0))) ? negated(a) : a;
    case CellOp::sign: return is_nan(a) ? a : real(node.type, sign_of(a));
    case CellOp::mod:
      if (is_nan(a) || is_nan(args[1])) return nan(node.type);
      return sign_in_domain(args[1]) == 0 ? nan(node.type) : opaque(node, args);
    case CellOp::exp: return overflowing_exponential(a);
    case CellOp::log: return logarithm(a);
    case CellOp::sqrt: return square_root(a);
    case CellOp::log1p: return logarithm(sum(unit, a));
    case CellOp::expm1: return sum(overflowing_exponential(a), real(node.type, -1));
    case CellOp::rsqrt: return quotient(unit, square_root(a));
    case CellOp::asin:
    case CellOp::acos:
    case CellOp::acosh:
    case CellOp::atanh:
    case CellOp::sinh:
    case CellOp::cosh: return with_domain(node, args);
    case CellOp::pow: return power(node, a, args[1]);
    case CellOp::sigmoid: return logistic(a);
    default: return opaque(node, args);
  }
}

}  // namespace tap
