#include "support/element_type.h"

#include <array>
#include <limits>

#include "support/check.h"
#include "support/half.h"

namespace tap {
namespace {

// In the order of ElementType.
constexpr std::array<ElementInfo, element_type_count> table = {{
    {"f64", 8, true, true, 53},
    {"f32", 4, true, true, 24},
    {"f16", 2, true, true, 11},
    {"bf16", 2, true, true, 8},
    {"i64", 8, false, true, 0},
    {"i32", 4, false, true, 0},
    {"i16", 2, false, true, 0},
    {"i8", 1, false, true, 0},
    {"u8", 1, false, false, 0},
    {"bool", 1, false, false, 0},
}};
static_assert(table[static_cast<std::size_t>(ElementType::boolean)].name == "bool");
static_assert(table[static_cast<std::size_t>(ElementType::i64)].name == "i64");

}  // namespace

const ElementInfo& info(ElementType type) { return table[static_cast<std::size_t>(type)]; }

std::optional<ElementType> element_type_named(std::string_view name) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

bool belongs_to(ElementType type, TypeClass c) {
  switch (c) {
    case TypeClass::any: return true;
    case TypeClass::number: return !is_bool(type);
    case TypeClass::floating: return is_float(type);
    case TypeClass::integer: return is_integer(type);
  }
  TAP_UNREACHABLE("an unknown type class");
}

ElementType compute_type(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 ? ElementType::f32 : type;
}

std::int64_t least_integer(ElementType type) {
  switch (type) {
    case ElementType::i64: return std::numeric_limits<std::int64_t>::min();
    case ElementType::i32: return std::numeric_limits<std::int32_t>::min();
    case ElementType::i16: return std::numeric_limits<std::int16_t>::min();
    case ElementType::i8: return std::numeric_limits<std::int8_t>::min();
    case ElementType::u8: return 0;
    case ElementType::boolean: return 0;
    case ElementType::f64:
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16: break;
  }
  TAP_UNREACHABLE("a float type has no least integer");
}

std::int64_t greatest_integer(ElementType type) {
  switch (type) {
    case ElementType::i64: return std::numeric_limits<std::int64_t>::max();
    case ElementType::i32: return std::numeric_limits<std::int32_t>::max();
    case ElementType::i16: return std::numeric_limits<std::int16_t>::max();
    case ElementType::i8: return std::numeric_limits<std::int8_t>::max();
    case ElementType::u8: return std::numeric_limits<std::uint8_t>::max();
    case ElementType::boolean: return 1;
    case ElementType::f64:
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16: break;
  }
  TAP_UNREACHABLE("a float type has no greatest integer");
}

std::int64_t wrap(std::int64_t value, ElementType type) {
  switch (type) {
    case ElementType::i64: return value;
    case ElementType::i32: return static_cast<std::int32_t>(value);
    case ElementType::i16: return static_cast<std::int16_t>(value);
    case ElementType::i8: return static_cast<std::int8_t>(value);
    case ElementType::u8: return static_cast<std::uint8_t>(value);
    case ElementType::boolean: return value & 1;
    case ElementType::f64:
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16: break;
  }
  TAP_UNREACHABLE("an integer was wrapped to a float type");
}

double round_to(double value, ElementType type) {
  switch (type) {
    case ElementType::f64: return value;
    case ElementType::f32: return static_cast<float>(value);
    case ElementType::f16: return decode_f16(encode_f16(value));
    case ElementType::bf16: return decode_bf16(encode_bf16(value));
    case ElementType::i64:
    case ElementType::i32:
    case ElementType::i16:
    case ElementType::i8:
    case ElementType::u8:
    case ElementType::boolean: break;
  }
  TAP_UNREACHABLE("a float was rounded to a type that is not a float");
}

}  // namespace tap
