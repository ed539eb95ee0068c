// The 16-bit formats against a second formula: decoding by the definition (sign · significand · 2^exponent, with
// ldexp), encoding by searching the sorted list of all finite values for the nearest, ties to the even pattern.
#include "support/element_type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/check.h"
#include "support/half.h"

namespace tap {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Format {
  ElementType type;
  int exponent_bits, mantissa_bits;
  float (*decode)(std::uint16_t);
  std::uint16_t (*encode)(double);
};
const Format formats[] = {{ElementType::f16, 5, 10, decode_f16, encode_f16},
                          {ElementType::bf16, 8, 7, decode_bf16, encode_bf16}};

double by_definition(const Format& f, std::uint32_t bits) {
  int exponent = static_cast<int>((bits >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1));
  int mantissa = static_cast<int>(bits & ((1u << f.mantissa_bits) - 1));
  int bias = (1 << (f.exponent_bits - 1)) - 1;
  double value;
  if (exponent == (1 << f.exponent_bits) - 1) {
    value = mantissa != 0 ? std::nan("") : infinity;
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - f.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1 << f.mantissa_bits), exponent - bias - f.mantissa_bits);
  }
  return (bits & 0x8000u) != 0 ? -value : value;
}

// The nearest of all patterns, for a value that is not NaN. Patterns of one sign are sorted by their magnitude.
std::uint16_t by_search(const Format& f, double value) {
  std::uint32_t largest = (((1u << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
  std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  double magnitude = std::fabs(value);
  double top = by_definition(f, largest);
  double step = top - by_definition(f, largest - 1);
  if (magnitude >= top + step / 2) return static_cast<std::uint16_t>(sign | (largest + 1));
  std::uint32_t low = 0, high = largest;  // the greatest pattern whose value is not above
  while (low < high) {
    std::uint32_t middle = (low + high + 1) / 2;
    if (by_definition(f, middle) <= magnitude) low = middle;
    else high = middle - 1;
  }
  if (low < largest) {
    double below = magnitude - by_definition(f, low), above = by_definition(f, low + 1) - magnitude;
    if (above < below || (above == below && (low & 1) != 0)) ++low;
  }
  return static_cast<std::uint16_t>(sign | low);
}

TEST(Half, DecodesEveryPattern) {
  for (const Format& f : formats) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      double expected = by_definition(f, bits);
      float found = f.decode(static_cast<std::uint16_t>(bits));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(found)) << bits;
        ASSERT_NE(std::bit_cast<std::uint32_t>(found) & 0x400000u, 0u) << "not quiet: " << bits;
      } else {
        ASSERT_EQ(found, expected) << bits;
        ASSERT_EQ(std::signbit(found), std::signbit(expected)) << bits;
      }
    }
  }
}

TEST(Half, EncodesEveryPatternBack) {
  for (const Format& f : formats) {
    std::uint32_t quiet = 1u << (f.mantissa_bits - 1);
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      double value = by_definition(f, bits);
      std::uint16_t found = f.encode(f.decode(static_cast<std::uint16_t>(bits)));
      ASSERT_EQ(found, std::isnan(value) ? bits | quiet : bits);
    }
  }
}

TEST(Half, RoundsTiesToEvenBetweenEveryTwoNeighbours) {
  for (const Format& f : formats) {
    std::uint32_t largest = (((1u << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
    for (std::uint32_t bits = 0; bits < largest; ++bits) {
      double low = by_definition(f, bits), high = by_definition(f, bits + 1), middle = low + (high - low) / 2;
      std::uint32_t even = (bits & 1) == 0 ? bits : bits + 1;
      for (std::uint32_t sign : {0u, 0x8000u}) {
        double s = sign != 0 ? -1 : 1;
        ASSERT_EQ(f.encode(s * middle), sign | even) << bits;
        ASSERT_EQ(f.encode(s * std::nextafter(middle, 0)), sign | bits) << bits;
        ASSERT_EQ(f.encode(s * std::nextafter(middle, infinity)), sign | (bits + 1)) << bits;
      }
    }
  }
}

TEST(Half, EncodesRandomDoublesToTheNearest) {
  std::mt19937_64 random(20240607);
  for (const Format& f : formats) {
    for (int i = 0; i < 200000; ++i) {
      // Every second one has an exponent near the format's own range.
      std::uint64_t bits = random();
      if (i % 2 == 0) bits = (bits & 0x800FFFFFFFFFFFFFu) | ((1023 - 30 + (bits >> 52) % 60) << 52);
      double value = std::bit_cast<double>(bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(f.encode(value), by_search(f, value)) << value;
    }
  }
}

TEST(Half, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  EXPECT_EQ(encode_f16(65504.0), 0x7BFF);
  EXPECT_EQ(encode_f16(std::nextafter(65520.0, 0.0)), 0x7BFF);
  EXPECT_EQ(encode_f16(65520.0), 0x7C00);
  EXPECT_EQ(encode_f16(-1e300), 0xFC00);
  EXPECT_EQ(encode_bf16(1e39), 0x7F80);
  EXPECT_EQ(encode_f16(std::ldexp(1.0, -25)), 0x0000);  // a tie with zero, which is even
  EXPECT_EQ(encode_f16(std::nextafter(std::ldexp(1.0, -25), 1.0)), 0x0001);
  EXPECT_EQ(encode_f16(-0.0), 0x8000);
}

// The nearest of bf16, by integers alone.
double nearest_of_bf16(std::int64_t value) {
  std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int shift = std::max(0, 64 - std::countl_zero(magnitude) - 8);
  std::uint64_t kept = magnitude >> shift, dropped = magnitude & ((std::uint64_t{1} << shift) - 1);
  std::uint64_t half = shift > 0 ? std::uint64_t{1} << (shift - 1) : 1;
  if (dropped > half || (dropped == half && shift > 0 && kept % 2 != 0)) ++kept;
  double result = std::ldexp(static_cast<double>(kept), shift);
  return value < 0 ? -result : result;
}

TEST(Half, IntegersRoundOnce) {
  std::mt19937_64 random(20261122);
  auto check = [](std::int64_t value) {
    ASSERT_EQ(decode_bf16(encode_bf16(static_cast<double>(folded_for_half(value)))), nearest_of_bf16(value)) << value;
  };
  for (int i = 0; i < 200000; ++i) {
    auto value = static_cast<std::int64_t>(random() >> (random() % 64));
    for (std::int64_t one : {value, -value}) check(one);
    // Around the middles between two neighbours.
    std::int64_t middle = ((value | (std::int64_t{1} << 62)) >> 54 << 54) & INT64_MAX;
    for (std::int64_t by : {-1, 0, 1}) check(middle + by);
  }
  check(INT64_MAX);
  check(INT64_MIN);
}

TEST(Half, KeepsNaNQuietAndNeverTurnsItIntoInfinity) {
  double signalling = std::bit_cast<double>(std::uint64_t{0x7FF0000000000001});
  EXPECT_EQ(encode_f16(signalling), 0x7E00);
  EXPECT_EQ(encode_bf16(signalling), 0x7FC0);
}

TEST(ElementType, RoundTo) {
  EXPECT_EQ(round_to(0.1, ElementType::f64), 0.1);
  EXPECT_EQ(round_to(0.1, ElementType::f32), static_cast<double>(0.1f));
  EXPECT_EQ(round_to(1.0 + std::ldexp(1.0, -24), ElementType::f32), 1.0);  // tie, to even
  EXPECT_EQ(round_to(1.0 + 3 * std::ldexp(1.0, -24), ElementType::f32), 1.0 + std::ldexp(1.0, -22));
  EXPECT_EQ(round_to(1e39, ElementType::f32), infinity);
  EXPECT_EQ(round_to(2049.0, ElementType::f16), 2048.0);
  EXPECT_EQ(round_to(2051.0, ElementType::f16), 2052.0);
  EXPECT_EQ(round_to(257.0, ElementType::bf16), 256.0);
  // Through f32 this would be rounded twice: first up to the tie, then up to the even neighbour.
  EXPECT_EQ(round_to(2049.0 - 1e-9, ElementType::f16), 2048.0);
  EXPECT_EQ(round_to(2051.0 - 1e-9, ElementType::f16), 2050.0);
  EXPECT_TRUE(std::isnan(round_to(std::nan(""), ElementType::bf16)));
  EXPECT_THROW(round_to(1.0, ElementType::i8), InternalError);
}

TEST(ElementType, TableAgreesWithTheTypes) {
  int count = 0;
  for (std::size_t i = 0; i < element_type_count; ++i) {
    auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_named(name_of(type)), type);
    EXPECT_EQ(is_float(type) + is_integer(type) + is_bool(type), 1);
    EXPECT_EQ(belongs_to(type, TypeClass::number), is_float(type) || is_integer(type));
    EXPECT_EQ(belongs_to(type, TypeClass::floating), is_float(type));
    EXPECT_EQ(belongs_to(type, TypeClass::integer), is_integer(type));
    EXPECT_EQ(compute_type(type), size_of(type) == 2 && is_float(type) ? ElementType::f32 : type);
    ++count;
  }
  EXPECT_EQ(count, 10);
  EXPECT_EQ(size_of(ElementType::bf16), 2u);
  EXPECT_EQ(size_of(ElementType::boolean), 1u);
  EXPECT_FALSE(element_type_named("f128"));
  EXPECT_FALSE(element_type_named(""));
}

TEST(ElementType, IntegersWrapIntoTheirRange) {
  EXPECT_EQ(wrap(128, ElementType::i8), -128);
  EXPECT_EQ(wrap(-1, ElementType::u8), 255);
  EXPECT_EQ(wrap(std::int64_t{1} << 32, ElementType::i32), 0);
  EXPECT_EQ(wrap(40000, ElementType::i16), 40000 - 65536);
  EXPECT_EQ(wrap(3, ElementType::boolean), 1);
  for (auto type : {ElementType::i64, ElementType::i32, ElementType::i16, ElementType::i8, ElementType::u8}) {
    EXPECT_EQ(wrap(least_integer(type), type), least_integer(type));
    EXPECT_EQ(wrap(greatest_integer(type), type), greatest_integer(type));
    auto beyond = static_cast<std::int64_t>(static_cast<std::uint64_t>(greatest_integer(type)) + 1);
    EXPECT_EQ(wrap(beyond, type), least_integer(type));
  }
}

}  // namespace
}  // namespace tap
