#include "backend/mlir/arithmetic.h"

#include <fmt/format.h>

#include <cmath>

#include "support/check.h"

namespace tap::backend::mlir {
namespace {

using ir::CellOp;

// Operations of one type, and their combinations.
struct Writer {
  Text& text;
  ElementType type;
  std::string_view name = type_name(compute_type(type));

  std::string apply(std::string_view operation, const std::string& a) const {
    return define(text, "c", fmt::format("{} {} : {}", operation, a, name));
  }
  std::string apply(std::string_view operation, const std::string& a, const std::string& b) const {
    return define(text, "c", fmt::format("{} {}, {} : {}", operation, a, b, name));
  }
  std::string constant(double value) const {
    const ElementType computed = compute_type(type);
    const ir::Scalar scalar = is_float(type) ? ir::Scalar::floating(computed, value)
                                             : ir::Scalar::integer(type, static_cast<std::int64_t>(value));
    return define(text, "k", "arith.constant " + literal(scalar));
  }
  std::string less(const std::string& a, const std::string& b) const {
    return compare(text, is_float(type) ? "olt" : type == ElementType::u8 ? "ult" : "slt", a, b, name, is_float(type));
  }
  std::string equal(const std::string& a, const std::string& b) const {
    return compare(text, is_float(type) ? "oeq" : "eq", a, b, name, is_float(type));
  }
  std::string choice(const std::string& condition, const std::string& a, const std::string& b) const {
    return choose(text, condition, a, b, name);
  }
  std::string zero_or_sign(const std::string& a) const {  // 1 above zero, -1 below, else `a` itself
    const std::string zero = constant(0), one = constant(1);
    if (type == ElementType::u8) return choice(less(zero, a), one, zero);
    const std::string below = choice(less(a, zero), constant(-1), zero);
    const std::string sign = choice(less(zero, a), one, below);
    return is_float(type) ? choice(compare(text, "uno", a, a, name, true), a, sign) : sign;
  }
};

// The remainder of floor division: zero or of b's sign.
std::string float_mod(const Writer& w, const std::string& a, const std::string& b) {
  const std::string zero = w.constant(0), r = w.apply("arith.remf", a, b);
  const std::string differ =
      define(w.text, "c", fmt::format("arith.xori {}, {} : i1", w.less(r, zero), w.less(b, zero)));
  const std::string other = w.choice(differ, w.apply("arith.addf", r, b), r);
  return w.choice(w.equal(r, zero), w.apply("math.copysign", zero, b), other);
}

std::string float_operation(const Writer& w, CellOp op, const std::vector<std::string>& a) {
  switch (op) {
    case CellOp::neg: return w.apply("arith.negf", a[0]);
    case CellOp::add: return w.apply("arith.addf", a[0], a[1]);
    case CellOp::sub: return w.apply("arith.subf", a[0], a[1]);
    case CellOp::mul: return w.apply("arith.mulf", a[0], a[1]);
    case CellOp::div: return w.apply("arith.divf", a[0], a[1]);
    case CellOp::mod: return float_mod(w, a[0], a[1]);
    case CellOp::min: return w.apply("arith.minimumf", a[0], a[1]);
    case CellOp::max: return w.apply("arith.maximumf", a[0], a[1]);
    case CellOp::abs: return w.apply("math.absf", a[0]);
    case CellOp::sign: return w.zero_or_sign(a[0]);
    case CellOp::equal: return w.equal(a[0], a[1]);
    case CellOp::not_equal: return compare(w.text, "une", a[0], a[1], w.name, true);
    case CellOp::less: return w.less(a[0], a[1]);
    case CellOp::less_equal: return compare(w.text, "ole", a[0], a[1], w.name, true);
    case CellOp::isnan: return compare(w.text, "uno", a[0], a[0], w.name, true);
    case CellOp::isinf: return w.equal(w.apply("math.absf", a[0]), w.constant(INFINITY));
    case CellOp::sqrt: return w.apply("math.sqrt", a[0]);
    case CellOp::rsqrt: return w.apply("math.rsqrt", a[0]);
    case CellOp::floor: return w.apply("math.floor", a[0]);
    case CellOp::ceil: return w.apply("math.ceil", a[0]);
    case CellOp::round: return w.apply("math.roundeven", a[0]);
    case CellOp::sigmoid: {
      const std::string one = w.constant(1), e = w.apply("math.exp", w.apply("arith.negf", a[0]));
      return w.apply("arith.divf", one, w.apply("arith.addf", one, e));
    }
    case CellOp::pow: return w.apply("math.powf", a[0], a[1]);
    default: return w.apply(fmt::format("math.{}", ir::info(op).name), a[0]);  // library functions
  }
}

// Rounds down, as in Tap; the least number divided by -1 is itself.
std::string divide(const Writer& w, const std::string& a, const std::string& b) {
  require(w.text, compare(w.text, "ne", b, w.constant(0), w.name, false), "division by zero");
  if (w.type == ElementType::u8) return w.apply("arith.divui", a, b);
  const std::string one = w.constant(1), minus = w.equal(b, w.constant(-1));
  const std::string quotient = w.apply("arith.floordivsi", a, w.choice(minus, one, b));
  return w.choice(minus, w.apply("arith.subi", w.constant(0), a), quotient);
}
std::string modulo(const Writer& w, const std::string& a, const std::string& b) {
  const std::string zero = w.constant(0);
  require(w.text, compare(w.text, "ne", b, zero, w.name, false), "remainder of a division by zero");
  if (w.type == ElementType::u8) return w.apply("arith.remui", a, b);
  const std::string divisor = w.choice(w.equal(b, w.constant(-1)), w.constant(1), b);
  const std::string r = w.apply("arith.remsi", a, divisor);
  const std::string differ =
      define(w.text, "c", fmt::format("arith.xori {}, {} : i1", w.less(r, zero), w.less(divisor, zero)));
  const std::string moved = w.choice(differ, w.apply("arith.addi", r, divisor), r);
  return w.choice(w.equal(r, zero), zero, moved);
}

// By the width or more: zeros, or copies of the sign.
std::string shift(const Writer& w, CellOp op, const std::string& a, const std::string& by) {
  const auto width = static_cast<double>(8 * size_of(w.type));
  const bool is_unsigned = w.type == ElementType::u8;
  if (!is_unsigned)
    require(w.text, compare(w.text, "sge", by, w.constant(0), w.name, false), "shift by a negative number");
  const std::string far =
      define(w.text, "c",
             fmt::format("arith.cmpi {}, {}, {} : {}", is_unsigned ? "uge" : "sge", by, w.constant(width), w.name));
  const std::string most = w.choice(far, w.constant(width - 1), by);
  if (op == CellOp::shr && !is_unsigned) return w.apply("arith.shrsi", a, most);
  const std::string moved = w.apply(op == CellOp::shl ? "arith.shli" : "arith.shrui", a, most);
  return w.choice(far, w.constant(0), moved);
}

std::string integer_operation(const Writer& w, CellOp op, const std::vector<std::string>& a) {
  const bool is_unsigned = w.type == ElementType::u8;
  switch (op) {
    case CellOp::neg: return w.apply("arith.subi", w.constant(0), a[0]);
    case CellOp::add: return w.apply("arith.addi", a[0], a[1]);
    case CellOp::sub: return w.apply("arith.subi", a[0], a[1]);
    case CellOp::mul: return w.apply("arith.muli", a[0], a[1]);
    case CellOp::div: return divide(w, a[0], a[1]);
    case CellOp::mod: return modulo(w, a[0], a[1]);
    case CellOp::min: return w.apply(is_unsigned ? "arith.minui" : "arith.minsi", a[0], a[1]);
    case CellOp::max: return w.apply(is_unsigned ? "arith.maxui" : "arith.maxsi", a[0], a[1]);
    case CellOp::abs: return is_unsigned ? a[0] : w.apply("math.absi", a[0]);
    case CellOp::sign: return w.zero_or_sign(a[0]);
    case CellOp::equal: return w.equal(a[0], a[1]);
    case CellOp::not_equal: return compare(w.text, "ne", a[0], a[1], w.name, false);
    case CellOp::less: return w.less(a[0], a[1]);
    case CellOp::less_equal: return compare(w.text, is_unsigned ? "ule" : "sle", a[0], a[1], w.name, false);
    case CellOp::logical_not: return w.apply("arith.xori", a[0], w.constant(1));
    case CellOp::bitand_: return w.apply("arith.andi", a[0], a[1]);
    case CellOp::bitor_: return w.apply("arith.ori", a[0], a[1]);
    case CellOp::bitxor_: return w.apply("arith.xori", a[0], a[1]);
    case CellOp::bitnot: return w.apply("arith.xori", a[0], w.constant(-1));
    case CellOp::shl:
    case CellOp::shr: return shift(w, op, a[0], a[1]);
    default: TAP_UNREACHABLE("`" + std::string(ir::info(op).name) + "` is not an operation on integers");
  }
}

// Truncates; out of range gives the type's least or greatest number, NaN gives 0. Values that are not selected are
// arbitrary.
std::string saturated(Text& text, ElementType from, ElementType to, const std::string& value) {
  const std::string_view source = type_name(compute_type(from)), target = type_name(to);
  const Writer w{text, from}, t{text, to};
  auto whole = [&](std::int64_t number) {
    return define(text, "k", "arith.constant " + literal(ir::Scalar::integer(to, number)));
  };
  const auto least = static_cast<double>(least_integer(to)), beyond = static_cast<double>(greatest_integer(to)) + 1;
  const std::string plain =
      define(text, "c",
             fmt::format("arith.{} {} : {} to {}", to == ElementType::u8 ? "fptoui" : "fptosi", value, source, target));
  const std::string low =
      t.choice(compare(text, "ole", value, w.constant(least), source, true), whole(least_integer(to)), plain);
  const std::string high =
      t.choice(compare(text, "oge", value, w.constant(beyond), source, true), whole(greatest_integer(to)), low);
  return t.choice(compare(text, "uno", value, value, source, true), whole(0), high);
}

}  // namespace

std::string define(Text& text, std::string_view hint, const std::string& operation) {
  std::string name = text.fresh(hint);
  text.line(name + " = " + operation);
  return name;
}

std::string index_constant(Text& text, std::int64_t value) {
  return define(text, "k", fmt::format("arith.constant {} : index", value));
}

std::string compare(Text& text, std::string_view name, const std::string& a, const std::string& b,
                    std::string_view type, bool floats) {
  return define(text, "c", fmt::format("arith.cmp{} {}, {}, {} : {}", floats ? "f" : "i", name, a, b, type));
}

std::string choose(Text& text, const std::string& condition, const std::string& a, const std::string& b,
                   std::string_view type) {
  return define(text, "c", fmt::format("arith.select {}, {}, {} : {}", condition, a, b, type));
}

void require(Text& text, const std::string& condition, std::string_view otherwise) {
  text.line(fmt::format("cf.assert {}, \"{}\"", condition, otherwise));
}

std::string arithmetic(Text& text, CellOp op, ElementType type, const std::vector<std::string>& args) {
  const Writer writer{text, type};
  return is_float(type) ? float_operation(writer, op, args) : integer_operation(writer, op, args);
}

std::string widened(Text& text, ElementType type, const std::string& value) {
  if (compute_type(type) == type) return value;
  return define(text, "c", fmt::format("arith.extf {} : {} to f32", value, type_name(type)));
}
std::string rounded(Text& text, ElementType type, const std::string& value) {
  if (compute_type(type) == type) return value;
  return define(text, "c", fmt::format("arith.truncf {} : f32 to {}", value, type_name(type)));
}

std::string cast(Text& text, ElementType from, ElementType to, const std::string& value) {
  const std::string_view source = type_name(compute_type(from)), target = type_name(to);
  const bool widens = size_of(to) > size_of(from), is_unsigned = from == ElementType::u8 || is_bool(from);
  auto convert = [&](std::string_view how, std::string_view into) {
    return define(text, "c", fmt::format("arith.{} {} : {} to {}", how, value, source, into));
  };
  if (is_bool(to)) {
    if (is_bool(from)) return value;
    const ElementType computed = compute_type(from);
    const std::string zero = define(text, "k", "arith.constant " + literal(ir::Scalar::zero(computed)));
    return compare(text, is_float(from) ? "une" : "ne", value, zero, source, is_float(from));
  }
  if (is_float(from) && !is_float(to)) return saturated(text, from, to, value);
  if (!is_float(from) && is_float(to)) return widened(text, to, convert(is_unsigned ? "uitofp" : "sitofp", target));
  if (is_float(from)) {
    if (compute_type(from) == to) return value;
    if (compute_type(to) != to) return widened(text, to, convert("truncf", target));
    return convert(to == ElementType::f64 ? "extf" : "truncf", target);
  }
  if (is_bool(from)) return convert("extui", target);
  if (size_of(to) == size_of(from)) return value;  // i8 and u8 have the same bits
  return convert(!widens ? "trunci" : is_unsigned ? "extui" : "extsi", target);
}

}  // namespace tap::backend::mlir
