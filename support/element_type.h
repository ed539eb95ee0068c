// Element types, and the type classes for `where`. Each is one line of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tap {

enum class ElementType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };
inline constexpr std::size_t element_type_count = 10;

enum class TypeClass : std::uint8_t { any, number, floating, integer };

struct ElementInfo {
  std::string_view name;  // as in Tap
  std::size_t size;       // bytes
  bool is_float;
  bool is_signed;
  int mantissa_bits;  // of floats, the hidden one included: f32 has 24
};

const ElementInfo& info(ElementType type);
std::optional<ElementType> element_type_named(std::string_view name);

inline std::string_view name_of(ElementType t) { return info(t).name; }
inline std::size_t size_of(ElementType t) { return info(t).size; }
inline bool is_float(ElementType t) { return info(t).is_float; }
inline bool is_bool(ElementType t) { return t == ElementType::boolean; }
inline bool is_integer(ElementType t) { return !is_float(t) && !is_bool(t); }
bool belongs_to(ElementType type, TypeClass c);

// f16 and bf16 compute and accumulate in f32; every other type in its own.
ElementType compute_type(ElementType type);

// Least and greatest value, for integers and bool; floats use -inf and +inf (see Scalar).
std::int64_t least_integer(ElementType type);
std::int64_t greatest_integer(ElementType type);
// The two's complement value of the low bits of `value`.
std::int64_t wrap(std::int64_t value, ElementType type);
// `value` rounded to a float type's precision, round to nearest even.
double round_to(double value, ElementType type);

}  // namespace tap
