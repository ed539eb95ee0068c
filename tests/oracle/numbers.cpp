#include "tests/oracle/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace tap::oracle {
namespace {

using enum ElementType;

struct FloatFormat {
  int digits;             // with the hidden one
  int least_exponent;     // of the last digit of the smallest numbers
  int greatest_exponent;  // the first power of two that is too large
};
FloatFormat format_of(ElementType type) {
  switch (type) {
    case f64: return {53, -1074, 1024};
    case f32: return {24, -149, 128};
    case f16: return {11, -24, 16};
    case bf16: return {8, -133, 128};
    default: throw std::logic_error("no float");
  }
}

int width_of(ElementType type) {
  switch (type) {
    case i64: return 64;
    case i32: return 32;
    case i16: return 16;
    default: return 8;
  }
}

// What an operation gives: f16 and bf16 compute in f32.
Value rounded(ElementType type, double f) {
  return floating(type == f64 ? f : static_cast<double>(static_cast<float>(f)));
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// With the sign of b, a zero too.
double floor_remainder(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

std::uint64_t bits(std::int64_t i) { return static_cast<std::uint64_t>(i); }
Value wrapped(ElementType type, std::uint64_t number) {
  return integer(low_bits(static_cast<std::int64_t>(number), type));
}

Value divided(Op op, ElementType type, std::int64_t a, std::int64_t b) {
  if (b == 0) throw Stop("division by zero");
  if (b == -1) return op == Op::div ? wrapped(type, 0 - bits(a)) : integer(0);
  return integer(low_bits(op == Op::div ? floor_quotient(a, b) : a - b * floor_quotient(a, b), type));
}

template <class T>
bool compared(Op op, T a, T b) {
  switch (op) {
    case Op::equal: return a == b;
    case Op::not_equal: return a != b;
    case Op::less: return a < b;
    case Op::less_equal: return a <= b;
    case Op::greater: return a > b;
    default: return a >= b;
  }
}

double float_result(Op op, double a, double b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    default: return floor_remainder(a, b);
  }
}

std::int64_t truncated(double f, ElementType to) {
  if (std::isnan(f)) return 0;
  const double t = std::trunc(f);
  if (t <= static_cast<double>(least(to).i)) return least(to).i;
  if (t >= static_cast<double>(greatest(to).i)) return greatest(to).i;
  return static_cast<std::int64_t>(t);
}

template <double (*function)(double)>
Value of_float(ElementType type, Value a, Value) {
  return rounded(type, function(a.f));
}
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : std::isnan(x) ? x : 0; }

std::int64_t shift_count(Value b) {
  if (b.i < 0) throw Stop("a negative shift");
  return b.i;
}

const std::map<std::string, FunctionInfo>& functions() {
  static const std::map<std::string, FunctionInfo> table = {
      {"exp", {of_float<std::exp>, 1, false}},
      {"log", {of_float<std::log>, 1, false}},
      {"log1p", {of_float<std::log1p>, 1, false}},
      {"expm1", {of_float<std::expm1>, 1, false}},
      {"sqrt", {of_float<std::sqrt>, 1, false}},
      {"rsqrt", {of_float<reciprocal_root>, 1, false}},
      {"sin", {of_float<std::sin>, 1, false}},
      {"cos", {of_float<std::cos>, 1, false}},
      {"tan", {of_float<std::tan>, 1, false}},
      {"asin", {of_float<std::asin>, 1, false}},
      {"acos", {of_float<std::acos>, 1, false}},
      {"atan", {of_float<std::atan>, 1, false}},
      {"sinh", {of_float<std::sinh>, 1, false}},
      {"cosh", {of_float<std::cosh>, 1, false}},
      {"tanh", {of_float<std::tanh>, 1, false}},
      {"asinh", {of_float<std::asinh>, 1, false}},
      {"acosh", {of_float<std::acosh>, 1, false}},
      {"atanh", {of_float<std::atanh>, 1, false}},
      {"erf", {of_float<std::erf>, 1, false}},
      {"sigmoid", {of_float<sigmoid>, 1, false}},
      {"floor", {of_float<std::floor>, 1, false}},
      {"ceil", {of_float<std::ceil>, 1, false}},
      {"round", {of_float<std::nearbyint>, 1, false}},
      {"pow", {[](ElementType t, Value a, Value b) { return rounded(t, std::pow(a.f, b.f)); }, 2, false}},
      {"isnan", {[](ElementType, Value a, Value) { return integer(std::isnan(a.f)); }, 1, true}},
      {"isinf", {[](ElementType, Value a, Value) { return integer(std::isinf(a.f)); }, 1, true}},
      {"abs",
       {[](ElementType t, Value a, Value) {
          return is_float(t) ? floating(std::fabs(a.f)) : a.i < 0 ? negative(t, a) : a;
        },
        1, false}},
      {"sign",
       {[](ElementType t, Value a, Value) {
          return is_float(t) ? floating(sign_of(a.f)) : integer((a.i > 0) - (a.i < 0));
        },
        1, false}},
      {"max", {maximum, 2, false}},
      {"min", {minimum, 2, false}},
      {"bitand", {[](ElementType t, Value a, Value b) { return wrapped(t, bits(a.i) & bits(b.i)); }, 2, false}},
      {"bitor", {[](ElementType t, Value a, Value b) { return wrapped(t, bits(a.i) | bits(b.i)); }, 2, false}},
      {"bitxor", {[](ElementType t, Value a, Value b) { return wrapped(t, bits(a.i) ^ bits(b.i)); }, 2, false}},
      {"bitnot", {[](ElementType t, Value a, Value) { return wrapped(t, ~bits(a.i)); }, 1, false}},
      {"shl",
       {[](ElementType t, Value a, Value b) {
          return shift_count(b) >= width_of(t) ? integer(0) : wrapped(t, bits(a.i) << b.i);
        },
        2, false}},
      {"shr",
       {[](ElementType t, Value a, Value b) {
          return shift_count(b) >= width_of(t) ? integer(a.i < 0 ? -1 : 0) : integer(a.i >> b.i);
        },
        2, false}},
  };
  return table;
}

template <class T>
T copied(const std::byte* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

double from_f16(std::uint16_t word) {
  const int exponent = word >> 10 & 31, fraction = word & 1023;
  const double size = exponent == 31  ? (fraction ? std::nan("") : INFINITY)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return std::copysign(size, word >> 15 ? -1.0 : 1.0);
}

std::uint16_t to_f16(double f) {
  const std::uint16_t sign = std::signbit(f) ? 0x8000 : 0;
  if (std::isnan(f)) return sign | 0x7e00;
  if (std::isinf(f)) return sign | 0x7c00;
  if (f == 0) return sign;
  int exponent = 0;
  const double part = std::frexp(std::fabs(f), &exponent);  // in [1/2, 1)
  if (exponent < -13) return sign | static_cast<std::uint16_t>(std::ldexp(std::fabs(f), 24));
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | (static_cast<int>(std::ldexp(part, 11)) - 1024));
}

std::uint32_t word_of(float f) { return copied<std::uint32_t>(reinterpret_cast<const std::byte*>(&f)); }

}  // namespace

double nearest(long double number, ElementType type) {
  if (number == 0 || std::isnan(number) || std::isinf(number)) return static_cast<double>(number);
  const FloatFormat format = format_of(type);
  int exponent = 0;
  std::frexp(number, &exponent);  // number = part · 2^exponent, part in [1/2, 1)
  const int last = std::max(exponent - format.digits, format.least_exponent);
  const long double kept = std::ldexp(std::nearbyint(std::ldexp(number, -last)), last);
  if (std::fabs(kept) >= std::ldexp(1.0L, format.greatest_exponent))
    return std::copysign(INFINITY, static_cast<double>(number));
  return static_cast<double>(kept);
}

std::int64_t low_bits(std::int64_t number, ElementType type) {
  switch (type) {
    case i64: return number;
    case i32: return static_cast<std::int32_t>(number);
    case i16: return static_cast<std::int16_t>(number);
    case i8: return static_cast<std::int8_t>(number);
    case u8: return static_cast<std::uint8_t>(number);
    case boolean: return number != 0;
    default: throw std::logic_error("no integer");
  }
}

Value load(const std::byte* at, ElementType type) {
  switch (type) {
    case f64: return floating(copied<double>(at));
    case f32: return floating(copied<float>(at));
    case f16: return floating(from_f16(copied<std::uint16_t>(at)));
    case bf16: {
      const std::uint32_t word = std::uint32_t{copied<std::uint16_t>(at)} << 16;
      return floating(copied<float>(reinterpret_cast<const std::byte*>(&word)));
    }
    case i64: return integer(copied<std::int64_t>(at));
    case i32: return integer(copied<std::int32_t>(at));
    case i16: return integer(copied<std::int16_t>(at));
    case i8: return integer(copied<std::int8_t>(at));
    case u8:
    case boolean: return integer(copied<std::uint8_t>(at));
  }
  throw std::logic_error("no type");
}

void store(std::byte* at, ElementType type, Value value) {
  auto put = [at](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (type) {
    case f64: return put(value.f);
    case f32: return put(static_cast<float>(nearest(value.f, f32)));
    case f16: return put(to_f16(nearest(value.f, f16)));
    case bf16: return put(static_cast<std::uint16_t>(word_of(static_cast<float>(nearest(value.f, bf16))) >> 16));
    case i64: return put(value.i);
    case i32: return put(static_cast<std::int32_t>(value.i));
    case i16: return put(static_cast<std::int16_t>(value.i));
    case i8: return put(static_cast<std::int8_t>(value.i));
    case u8:
    case boolean: return put(static_cast<std::uint8_t>(value.i));
  }
}

Value converted(Value value, ElementType from, ElementType to) {
  if (is_float(from) && is_float(to)) return from == to ? value : floating(nearest(value.f, to));
  if (is_float(from)) return to == boolean ? integer(value.f != 0) : integer(truncated(value.f, to));
  if (is_float(to)) return floating(nearest(static_cast<long double>(value.i), to));
  return integer(low_bits(value.i, to));
}

Value least(ElementType type) {
  if (is_float(type)) return floating(-INFINITY);
  if (type == u8 || type == boolean) return integer(0);
  return integer(static_cast<std::int64_t>(~std::uint64_t{0} << (width_of(type) - 1)));
}
Value greatest(ElementType type) {
  if (is_float(type)) return floating(INFINITY);
  return type == u8 ? integer(255) : type == boolean ? integer(1) : integer(~least(type).i);
}

Value arithmetic(Op op, ElementType type, Value a, Value b) {
  if (op >= Op::equal) return integer(is_float(type) ? compared(op, a.f, b.f) : compared(op, a.i, b.i));
  if (is_float(type)) return rounded(type, float_result(op, a.f, b.f));
  switch (op) {
    case Op::add: return wrapped(type, bits(a.i) + bits(b.i));
    case Op::sub: return wrapped(type, bits(a.i) - bits(b.i));
    case Op::mul: return wrapped(type, bits(a.i) * bits(b.i));
    default: return divided(op, type, a.i, b.i);
  }
}

Value negative(ElementType type, Value a) { return is_float(type) ? floating(-a.f) : wrapped(type, 0 - bits(a.i)); }

Value maximum(ElementType type, Value a, Value b) {
  if (!is_float(type)) return integer(std::max(a.i, b.i));
  if (std::isnan(a.f) || std::isnan(b.f)) return floating(std::nan(""));
  if (a.f == b.f) return std::signbit(a.f) ? b : a;
  return a.f > b.f ? a : b;
}
Value minimum(ElementType type, Value a, Value b) {
  if (!is_float(type)) return integer(std::min(a.i, b.i));
  if (std::isnan(a.f) || std::isnan(b.f)) return floating(std::nan(""));
  if (a.f == b.f) return std::signbit(a.f) ? a : b;
  return a.f < b.f ? a : b;
}

const FunctionInfo* function_named(const std::string& name) {
  auto found = functions().find(name);
  return found == functions().end() ? nullptr : &found->second;
}

}  // namespace tap::oracle
