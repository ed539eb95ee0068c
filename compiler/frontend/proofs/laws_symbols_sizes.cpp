// Bounds on the values of laws_symbols.h, by their construction. Allowed are:
//
//   a.v + b.v, exp(a.m - max(a.m, b.m)), a.v * (b.v / (a.v + b.v))   no larger than a number or a multiple of the states
//   a.v * b.v, b.c * a.d + b.d, a.v * b.v - a.w * b.w                terms of a result: it leaves the range as they do
//
// Not allowed are: a term that another cancels, a term that a factor or a divisor makes smaller again, a condition on
// two terms. With a.v = 1e200,
//
//   a.v * a.v - a.v * a.v      is NaN, not 0
//   a.v * b.v / (a.v + b.v)    is inf for b.v = 1e200, not 5e199
#include <algorithm>
#include <cmath>

#include "compiler/frontend/proofs/laws.h"
#include "compiler/frontend/proofs/laws_symbols.h"

namespace tap {
namespace {

using ir::CellOp;
using SizeKind = Magnitude::Kind;

// A sum of two components counts as in range, so a proof covers states of up to half the largest float. Nothing else may
// exceed the states, other than a result and its terms. A number may be as large as e^80.
// Half a step of the largest float of 16 bits is 16.
constexpr double least_half_step = 3;
constexpr double most_of_states = 1, most_of_numbers = 120, least_factor = 1 - 1e-9;

bool is_unbounded(const SymbolAlgebra::Value& v) {
  return v.kind == SymbolAlgebra::Kind::finite && v.magnitude.kind == SizeKind::term;
}

[[noreturn]] void may_overflow(const char* what) { throw SymbolAlgebra::GaveUp{std::string(finite_values) + what}; }
[[noreturn]] void product_may_overflow() {
  may_overflow("an intermediate product or quotient may overflow although the result is finite");
}

Magnitude number(double log2) { return {SizeKind::number, log2}; }
Magnitude at_most(Magnitude m) {
  bool fits = m.kind == SizeKind::number ? m.log2 <= most_of_numbers : m.log2 <= most_of_states;
  return m.kind != SizeKind::term && fits ? Magnitude{m.kind, m.log2} : Magnitude{SizeKind::term};
}

}  // namespace

// For a polynomial in expanded form: the factor of each monomial, by its symbols.
std::map<std::vector<unsigned>, double> SymbolAlgebra::monomials_of(const z3::expr& polynomial) {
  std::map<std::vector<unsigned>, double> result;
  auto add = [&](const z3::expr& monomial) {
    std::vector<unsigned> symbols;
    double factor = 1;
    auto add_factor = [&](const z3::expr& e, auto&& again) -> void {
      auto kind = e.is_app() ? e.decl().decl_kind() : Z3_OP_INTERNAL;
      if (e.is_numeral()) factor *= Z3_get_numeral_double(z3_, e);
      else if (kind == Z3_OP_MUL)
        for (unsigned k = 0; k < e.num_args(); ++k) again(e.arg(k), again);
      else if (kind == Z3_OP_UMINUS) factor = -factor, again(e.arg(0), again);
      else if (kind == Z3_OP_POWER && e.arg(1).is_numeral())
        for (double n = Z3_get_numeral_double(z3_, e.arg(1)); n > 0; --n) again(e.arg(0), again);
      else symbols.push_back(e.id());
    };
    add_factor(monomial, add_factor);
    std::sort(symbols.begin(), symbols.end());
    result[symbols] += factor;
  };
  if (polynomial.is_app() && polynomial.decl().decl_kind() == Z3_OP_ADD)
    for (unsigned k = 0; k < polynomial.num_args(); ++k) add(polynomial.arg(k));
  else add(polynomial);
  return result;
}

// Whether a monomial of one side is smaller in the sum.
bool SymbolAlgebra::cancels(const Value& a, const Value& b, const Value& sum) {
  z3::expr common = expand(a.bottom * b.bottom);
  auto left = monomials_of(expand(a.top * b.bottom * sum.bottom)),
       right = monomials_of(expand(b.top * a.bottom * sum.bottom));
  auto all = monomials_of(expand(sum.top * common));
  for (const auto& side : {left, right})
    for (const auto& [symbols, factor] : side) {
      auto it = all.find(symbols);
      double left_over = it == all.end() ? 0 : std::fabs(it->second);
      if (left_over < std::fabs(factor) * least_factor) return true;
    }
  return false;
}

std::optional<double> SymbolAlgebra::constant_of(const Value& v) {
  z3::expr value = ratio(v).simplify();
  if (!value.is_numeral()) return std::nullopt;
  return Z3_get_numeral_double(z3_, value);
}

bool SymbolAlgebra::is_no_larger(const Value& a, const Value& b) {
  z3::expr x = ratio(a), y = ratio(b);
  z3::expr absolute = z3::ite(y < 0, -y, y);
  return !may_be(x > absolute || -x > absolute);
}

Magnitude SymbolAlgebra::magnitude_of_sum(const Value& a, const Value& b, const Value& result) {
  const Magnitude &x = a.magnitude, &y = b.magnitude;
  if (is_unbounded(a) && is_unbounded(b) && cancels(a, b, result)) may_overflow("terms that cancel may overflow");
  if (is_unbounded(a) || is_unbounded(b)) return {SizeKind::term};
  if (x.kind != y.kind) {  // the largest float does not grow by a small number
    const Magnitude &state = x.kind == SizeKind::state ? x : y, &number = x.kind == SizeKind::state ? y : x;
    if (number.log2 <= least_half_step) return state;
  }
  return at_most({std::max(x.kind, y.kind), std::max(x.log2, y.log2) + 1});
}

// (d * z) * d is bounded by the result and d * z by both: |d z|^2 = |d z d| |z|.
Magnitude SymbolAlgebra::magnitude_of_product(const Value& a, const Value& b) {
  const Magnitude &x = a.magnitude, &y = b.magnitude;
  if (!is_unbounded(a) && !is_unbounded(b)) {
    if (x.kind != y.kind && x.log2 + y.log2 > 0) return {SizeKind::term};
    if (x.kind == SizeKind::number || y.kind == SizeKind::number)
      return at_most({std::max(x.kind, y.kind), x.log2 + y.log2});
    return {SizeKind::term, 0, std::pair(a.top, a.bottom)};
  }
  if (is_unbounded(a) && is_unbounded(b)) product_may_overflow();
  const Value &term = is_unbounded(a) ? a : b, &factor = is_unbounded(a) ? b : a;
  if (auto number = constant_of(factor)) {
    if (std::fabs(*number) < least_factor) product_may_overflow();
    return {SizeKind::term};
  }
  if (!term.magnitude.factor) product_may_overflow();
  auto [top, bottom] = *term.magnitude.factor;
  if (!(expand(top * factor.bottom - factor.top * bottom) == 0).simplify().is_true()) product_may_overflow();
  return {SizeKind::term};
}

Magnitude SymbolAlgebra::magnitude_of_quotient(const Value& a, const Value& b) {
  if (is_unbounded(b)) product_may_overflow();
  auto number_below = constant_of(b);
  if (is_unbounded(a) && (!number_below || std::fabs(*number_below) * least_factor > 1)) product_may_overflow();
  if (is_unbounded(a)) return {SizeKind::term};
  if (number_below && a.magnitude.kind == SizeKind::state && std::fabs(*number_below) < 1) return {SizeKind::term};
  if (number_below) return at_most({a.magnitude.kind, a.magnitude.log2 - std::log2(std::fabs(*number_below))});
  return is_no_larger(a, b) ? number(0) : Magnitude{SizeKind::term};
}

Magnitude SymbolAlgebra::magnitude_of(const ir::CellNode& node, const std::vector<Value>& args, const Value& result) {
  bool has_term = std::any_of(args.begin(), args.end(), is_unbounded);
  const Value& a = args[0];
  if (node.op == CellOp::min || node.op == CellOp::max || node.op == CellOp::cast) return result.magnitude;
  if (!is_float(a.type)) return {};
  if (!is_float(node.type)) {
    bool is_comparison = info(node.op).kind == ir::CellKind::comparison && args.size() == 2;
    if (is_comparison ? is_unbounded(a) && is_unbounded(args[1])
                      : has_term || (node.op == CellOp::isinf && a.magnitude.log2 > 0))
      may_overflow("a condition tests a value that may overflow");
    return {};
  }
  bool all_finite = std::all_of(args.begin(), args.end(), [](const Value& v) { return v.kind == Kind::finite; });
  if (!all_finite || result.kind != Kind::finite) {
    if (has_term) product_may_overflow();
    return result.kind == Kind::finite ? number(result.degree == 0 ? 0 : most_of_numbers) : Magnitude{};
  }
  switch (node.op) {
    case CellOp::neg:
    case CellOp::abs:
    case CellOp::floor:
    case CellOp::ceil:
    case CellOp::round: return {a.magnitude.kind, std::max(a.magnitude.log2, 0.0), std::nullopt};
    case CellOp::sign: return number(0);
    case CellOp::add:
    case CellOp::sub: return magnitude_of_sum(a, args[1], result);
    case CellOp::mul: return magnitude_of_product(a, args[1]);
    case CellOp::div: return magnitude_of_quotient(a, args[1]);
    default: break;
  }
  const bool is_exponential = node.op == CellOp::exp || node.op == CellOp::expm1;
  if (is_exponential && !may_be(ratio(a) > 0)) return number(0);  // also of an argument that overflows
  if (has_term) product_may_overflow();
  switch (node.op) {
    case CellOp::exp:
    case CellOp::expm1: return number(most_of_numbers);
    case CellOp::sinh:
    case CellOp::cosh: return number(most_of_numbers);
    case CellOp::pow: {
      double exponent = constant_of(args[1]).value_or(2);
      if (exponent <= 1 || a.magnitude.kind == SizeKind::state)
        return exponent <= 1 ? a.magnitude : Magnitude{SizeKind::term};
      return at_most(number(std::max(a.magnitude.log2, 0.0) * exponent));
    }
    case CellOp::rsqrt: return {SizeKind::term};
    case CellOp::sqrt: return {a.magnitude.kind, std::max(a.magnitude.log2, 0.0), std::nullopt};
    case CellOp::mod: return args[1].magnitude;
    default: return number(11);  // logarithms, and functions that stay within [-4, 4]
  }
}

}  // namespace tap
