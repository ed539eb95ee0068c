#include "compiler/frontend/proofs/laws_intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/interpret/interpret_number.h"
#include "support/half.h"

namespace tap {
namespace {

using ir::CellOp;
using Interval = IntervalAlgebra::Value;
using IntervalKind = IntervalAlgebra::Kind;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double largest = 1e300, smallest = 1e-300;  // outside, floats overflow or vanish, unlike reals

Interval nan_of(ElementType type) { return {type, IntervalKind::nan, 0, 0, 0}; }
Interval infinite_of(ElementType type, double sign) {
  return {type, IntervalKind::infinite, sign * inf, sign * inf, 0};
}
Interval truth_of(bool holds) { return {ElementType::boolean, IntervalKind::number, 0, 0, holds}; }

Interval within(ElementType type, double low, double high) {
  if (!(std::fabs(low) < largest && std::fabs(high) < largest)) throw NotKnown{};
  return {type, IntervalKind::number, low, high, 0};
}
Interval at(ElementType type, double value) { return within(type, value, value); }
// With the error of a library function, a few units in the last place.
Interval about(ElementType type, double low, double high) {
  constexpr double part = 2e-15;
  return within(type, low - std::fabs(low) * part, high + std::fabs(high) * part);
}
bool is_point(const Interval& v) { return v.low == v.high; }
bool has_zero(const Interval& v) { return v.low <= 0 && v.high >= 0; }

// The hull of f over the corners, widened unless every corner is exact.
template <class F, class IsExact>
Interval over_corners(ElementType type, const Interval& a, const Interval& b, F f, IsExact is_exact) {
  double low = inf, high = -inf;
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      double r = f(x, y);
      bool exact = is_exact(x, y, r);
      if (!exact && std::fabs(r) < smallest) throw NotKnown{};
      low = std::min(low, exact ? r : std::nextafter(r, -inf));
      high = std::max(high, exact ? r : std::nextafter(r, inf));
    }
  return within(type, low, high);
}

Interval interval_sum(const Interval& a, const Interval& b) {
  auto exact = [](double x, double y, double r) { return r - x == y && r - y == x; };
  return over_corners(
      a.type, a, b, [](double x, double y) { return x + y; }, exact);
}
Interval interval_product(const Interval& a, const Interval& b) {
  auto exact = [](double x, double y, double r) { return std::fma(x, y, -r) == 0; };
  return over_corners(
      a.type, a, b, [](double x, double y) { return x * y; }, exact);
}
Interval interval_quotient(const Interval& a, const Interval& b) {
  if (has_zero(b)) {
    if (is_point(a) && is_point(b) && a.low == 0) return nan_of(a.type);
    throw NotKnown{};  // an infinity with the sign of the zero
  }
  auto exact = [](double x, double y, double r) { return std::fma(r, y, -x) == 0; };
  return over_corners(
      a.type, a, b, [](double x, double y) { return x / y; }, exact);
}

// Functions that are monotone on their domain. Outside they are NaN; at an end they may have a pole.
struct Monotone {
  CellOp op;
  double from = -inf, to = inf;
  bool falls = false;
  double pole_from = 0, pole_to = 0;  // the infinity there
};
constexpr Monotone monotone[] = {
    {CellOp::exp},
    {CellOp::expm1},
    {CellOp::sinh},
    {CellOp::tanh},
    {CellOp::asinh},
    {CellOp::atan},
    {CellOp::erf},
    {CellOp::sigmoid},
    {CellOp::sqrt, 0},
    {CellOp::log, 0, inf, false, -inf},
    {CellOp::log1p, -1, inf, false, -inf},
    {CellOp::asin, -1, 1},
    {CellOp::acos, -1, 1, true},
    {CellOp::acosh, 1},
    {CellOp::atanh, -1, 1, false, -inf, inf},
};

double computed(CellOp op, double x, double y = 0) {
  return ir::oracle::apply_float(op, ir::oracle::number(x), ir::oracle::number(y)).f;
}

Interval monotone_of(const Monotone& f, const Interval& a) {
  if (a.high < f.from || a.low > f.to) return nan_of(a.type);
  if (a.low < f.from || a.high > f.to) throw NotKnown{};
  bool low_pole = f.pole_from != 0 && a.low == f.from, high_pole = f.pole_to != 0 && a.high == f.to;
  if (is_point(a) && (low_pole || high_pole)) return infinite_of(a.type, low_pole ? -1 : 1);
  if (low_pole || high_pole) throw NotKnown{};
  double low = computed(f.op, f.falls ? a.high : a.low), high = computed(f.op, f.falls ? a.low : a.high);
  if ((f.op == CellOp::exp || f.op == CellOp::sigmoid) && low < smallest) throw NotKnown{};  // the real result is not 0
  bool exact = is_point(a) && (a.low == 0 || (a.low == 1 && f.op != CellOp::exp));
  return exact && low == std::trunc(low) ? at(a.type, low) : about(a.type, low, high);
}

// A step function that is monotone: if it is equal at both ends, it is constant in between.
Interval step(CellOp op, const Interval& a) {
  double low = computed(op, a.low), high = computed(op, a.high);
  if (low != high) throw NotKnown{};
  return at(a.type, low);
}

Interval absolute(const Interval& a) {
  double low = std::fabs(a.low), high = std::fabs(a.high);
  return within(a.type, has_zero(a) ? 0 : std::min(low, high), std::max(low, high));
}

Interval power(const Interval& a, const Interval& b) {
  if (!is_point(b)) {
    if (a.low <= 0) throw NotKnown{};
  } else if (b.low != std::trunc(b.low)) {
    if (a.high < 0) return nan_of(a.type);
    if (a.low < 0) throw NotKnown{};
  } else if (has_zero(a) && !is_point(a)) {
    throw NotKnown{};
  }
  if (a.low == 0 && b.low < 0) throw NotKnown{};  // an infinity with the sign of the zero
  double low = inf, high = -inf;
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      double r = std::pow(x, y);
      if (r == 0 && x != 0) throw NotKnown{};
      low = std::min(low, r), high = std::max(high, r);
    }
  return about(a.type, low, high);
}

Interval remainder(const Interval& a, const Interval& b) {
  if (!is_point(a) || !is_point(b)) throw NotKnown{};
  if (b.low == 0) return nan_of(a.type);
  double r = computed(CellOp::mod, a.low, b.low);
  return about(a.type, r, r);
}

// A function with a slope of at most one.
Interval waves(CellOp op, const Interval& a) {
  double middle = a.low + (a.high - a.low) / 2, spread = (a.high - a.low) + 1e-14, r = computed(op, middle);
  return is_point(a) && a.low == 0 ? at(a.type, r) : within(a.type, r - spread, r + spread);
}

Interval of_numbers(CellOp op, const Interval& a, const Interval& b) {
  for (const Monotone& f : monotone)
    if (f.op == op) return monotone_of(f, a);
  switch (op) {
    case CellOp::neg: return within(a.type, -a.high, -a.low);
    case CellOp::add: return interval_sum(a, b);
    case CellOp::sub: return interval_sum(a, within(b.type, -b.high, -b.low));
    case CellOp::mul: return interval_product(a, b);
    case CellOp::div: return interval_quotient(a, b);
    case CellOp::min: return within(a.type, std::min(a.low, b.low), std::min(a.high, b.high));
    case CellOp::max: return within(a.type, std::max(a.low, b.low), std::max(a.high, b.high));
    case CellOp::abs: return absolute(a);
    case CellOp::mod: return remainder(a, b);
    case CellOp::pow: return power(a, b);
    case CellOp::rsqrt: {
      Interval root = monotone_of({CellOp::sqrt, 0}, a);
      return root.kind == IntervalKind::nan ? root : interval_quotient(at(a.type, 1), root);
    }
    case CellOp::cosh: return monotone_of({CellOp::cosh}, absolute(a));
    case CellOp::sign:
    case CellOp::floor:
    case CellOp::ceil:
    case CellOp::round: return step(op, a);
    case CellOp::sin:
    case CellOp::cos: return waves(op, a);
    default: throw NotKnown{};
  }
}

// With an infinity among operands that are not NaN, plain numbers give the result, if the others are exact.
Interval with_infinity(CellOp op, const Interval& a, const Interval& b) {
  bool zero_matters = op == CellOp::mul || op == CellOp::div;
  for (const Interval* v : {&a, &b})
    if (v->kind == IntervalKind::number && !is_point(*v) && zero_matters && has_zero(*v)) throw NotKnown{};
  if (op == CellOp::div && b.kind == IntervalKind::number && has_zero(b)) throw NotKnown{};
  double low = computed(op, a.low, b.low), high = computed(op, a.high, b.high);
  if (std::isnan(low) && std::isnan(high)) return nan_of(a.type);
  if (std::isinf(low) && low == high) return infinite_of(a.type, low > 0 ? 1 : -1);
  return about(a.type, std::min(low, high), std::max(low, high));
}

bool less(const Interval& a, const Interval& b, bool or_equal) {
  if (or_equal ? a.high <= b.low : a.high < b.low) return true;
  if (or_equal ? a.low > b.high : a.low >= b.high) return false;
  throw NotKnown{};
}
bool equal(const Interval& a, const Interval& b) {
  if (is_point(a) && is_point(b)) return a.low == b.low;
  if (a.high < b.low || b.high < a.low) return false;
  throw NotKnown{};
}

bool comparison(CellOp op, const Interval& a, const Interval& b) {
  bool numbers = a.kind != IntervalKind::nan && b.kind != IntervalKind::nan;
  switch (op) {
    case CellOp::isnan: return !numbers;
    case CellOp::isinf: return a.kind == IntervalKind::infinite;
    case CellOp::equal: return numbers && equal(a, b);
    case CellOp::not_equal: return !numbers || !equal(a, b);
    case CellOp::less: return numbers && less(a, b, false);
    case CellOp::less_equal: return numbers && less(a, b, true);
    default: TAP_UNREACHABLE("not a comparison");
  }
}

// Rounding a float to a narrower type gives a value in the interval: laws are about numbers before rounding.
Interval cast_float(ElementType to, const Interval& a) {
  if (!is_float(to)) {
    if (a.kind == IntervalKind::nan) return {to, IntervalKind::number, 0, 0, is_bool(to) ? 1 : 0};
    auto low = ir::oracle::apply_cast(a.type, to, ir::oracle::number(a.low)).i;
    if (low != ir::oracle::apply_cast(a.type, to, ir::oracle::number(a.high)).i) throw NotKnown{};
    if (is_bool(to) && has_zero(a) && !is_point(a)) throw NotKnown{};
    return {to, IntervalKind::number, 0, 0, low};
  }
  if (a.kind != IntervalKind::number) return {to, a.kind, a.low, a.high, 0};
  return within(to, std::min(a.low, round_to(a.low, to)), std::max(a.high, round_to(a.high, to)));
}

Interval cast_integer(ElementType to, const Interval& a) {
  ir::oracle::Number n = ir::oracle::apply_cast(a.type, to, ir::oracle::integer(a.integer));
  if (!is_float(to)) return {to, IntervalKind::number, 0, 0, n.i};
  auto nearest = static_cast<double>(a.integer);
  bool exact = std::fabs(nearest) < 9e15;
  double low = std::min(n.f, exact ? nearest : std::nextafter(nearest, -inf));
  return within(to, low, std::max(n.f, exact ? nearest : std::nextafter(nearest, inf)));
}

Interval integer_result(const ir::CellNode& node, const Interval& a, const Interval& b) {
  try {
    auto n = ir::oracle::apply_integer(node.op, a.type, ir::oracle::integer(a.integer), ir::oracle::integer(b.integer));
    return {node.type, IntervalKind::number, 0, 0, n.i};
  } catch (const ir::oracle::CellFailure&) { throw NoValue{}; }
}

}  // namespace

Interval IntervalAlgebra::constant(const ir::Scalar& s) const {
  if (!is_float(s.type)) return {s.type, IntervalKind::number, 0, 0, s.i};
  if (std::isnan(s.f)) return nan_of(s.type);
  return std::isinf(s.f) ? infinite_of(s.type, s.f > 0 ? 1 : -1) : Interval{s.type, IntervalKind::number, s.f, s.f, 0};
}

Interval IntervalAlgebra::apply(const ir::CellNode& node, const std::vector<Value>& args) const {
  const Interval &a = args[0], &b = args.back();
  if (node.op == CellOp::cast) return is_float(a.type) ? cast_float(node.type, a) : cast_integer(node.type, a);
  if (!is_float(a.type)) return integer_result(node, a, b);
  if (info(node.op).kind == ir::CellKind::comparison) return truth_of(comparison(node.op, a, b));
  bool is_nan = a.kind == IntervalKind::nan || b.kind == IntervalKind::nan;
  if (is_nan && node.op == CellOp::pow) throw NotKnown{};  // pow(nan, 0) is 1
  if (is_nan) return nan_of(node.type);
  bool numbers = a.kind == IntervalKind::number && b.kind == IntervalKind::number;
  return numbers ? of_numbers(node.op, a, b) : with_infinity(node.op, a, b);
}

Answer IntervalAlgebra::agree(const Interval& a, const Interval& b, int infinity) const {
  if (!is_float(a.type)) return a.integer == b.integer ? Answer::holds : Answer::fails;
  auto is_number = [&](const Interval& v) {
    return v.kind == IntervalKind::number || (v.kind == IntervalKind::infinite && v.low * infinity > 0);
  };
  if (!is_number(a) && !is_number(b)) return Answer::not_known;  // both undefined: the law does not apply
  if (a.kind != b.kind) return Answer::fails;
  if (a.kind == IntervalKind::infinite) return Answer::holds;
  double gap = std::max(a.low - b.high, b.low - a.high);
  double scale = std::max({1.0, std::fabs(a.low), std::fabs(b.low)});
  return gap > tolerance * scale ? Answer::fails : Answer::holds;
}

}  // namespace tap
