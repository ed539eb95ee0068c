// The two 16-bit float formats as bit patterns: f16 (5 exponent bits, 10 mantissa bits) and bf16 (8 and 7). Decoding
// is exact. Encoding rounds once, to nearest even, from a double, so there is no double rounding from f64; subnormals
// are exact, values that are too large become infinity, and NaNs become quiet.
//
//   encode_f16(1.0) == 0x3C00    encode_f16(65520.0) == 0x7C00 (infinity)    decode_bf16(0x3F80) == 1.0f
#pragma once

#include <bit>
#include <cstdint>

namespace tap {

template <int exponent_bits, int mantissa_bits>
struct HalfFormat {
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  static constexpr std::uint32_t quiet_bit = 1u << (mantissa_bits - 1);

  static constexpr std::uint16_t encode(double value) {
    constexpr std::uint64_t hidden = std::uint64_t{1} << 52;
    auto bits = std::bit_cast<std::uint64_t>(value);
    auto sign = static_cast<std::uint32_t>(bits >> 63) << 15;
    std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    if (magnitude > (std::uint64_t{0x7FF} << 52)) {
      auto payload = static_cast<std::uint32_t>(magnitude >> (52 - mantissa_bits)) & ((1u << mantissa_bits) - 1);
      return static_cast<std::uint16_t>(sign | infinity | quiet_bit | payload);
    }
    int exponent = static_cast<int>(magnitude >> 52) - 1023 + bias;  // as the narrow format would store it
    std::uint64_t significand = (magnitude & (hidden - 1)) | hidden;
    int shift = 52 - mantissa_bits + (exponent <= 0 ? 1 - exponent : 0);
    if (shift > 53) return static_cast<std::uint16_t>(sign);  // below half of the least subnormal
    std::uint64_t kept = significand >> shift;
    std::uint64_t dropped = significand & ((std::uint64_t{1} << shift) - 1);
    std::uint64_t half = std::uint64_t{1} << (shift - 1);
    if (dropped > half || (dropped == half && (kept & 1) != 0)) ++kept;
    // The hidden bit of `kept` adds one to the exponent, and so does a carry out of the mantissa.
    std::uint64_t result = (static_cast<std::uint64_t>(exponent <= 0 ? 0 : exponent - 1) << mantissa_bits) + kept;
    return static_cast<std::uint16_t>(sign | (result >= infinity ? infinity : static_cast<std::uint32_t>(result)));
  }

  static constexpr float decode(std::uint16_t bits) {
    std::uint32_t sign = (bits & 0x8000u) << 16;
    std::uint32_t magnitude = bits & 0x7FFFu;
    if (magnitude > infinity) magnitude |= quiet_bit;
    if (magnitude >= infinity) {
      return std::bit_cast<float>(sign | 0x7F800000u | ((magnitude - infinity) << (23 - mantissa_bits)));
    }
    if constexpr (exponent_bits == 8) {
      return std::bit_cast<float>(sign | (magnitude << (23 - mantissa_bits)));
    } else {
      constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23;
      if (magnitude >> mantissa_bits != 0) {
        return std::bit_cast<float>(sign | ((magnitude << (23 - mantissa_bits)) + rebias));
      }
      constexpr float least = std::bit_cast<float>(static_cast<std::uint32_t>(127 - bias + 1 - mantissa_bits) << 23);
      float value = static_cast<float>(magnitude) * least;  // a subnormal: exactly a multiple of the least one
      return sign != 0 ? -value : value;
    }
  }
};

// An integer that a double represents exactly and that rounds to 8 or 11 bits as `value` does: beyond 2^53, the bits
// below a multiple of 2048 are folded into that multiple, which becomes odd.
constexpr std::int64_t folded_for_half(std::int64_t value) {
  constexpr std::int64_t step = 2048, exact = std::int64_t{1} << 53;
  if ((value > -exact && value < exact) || (value & (step - 1)) == 0) return value;
  return (value & ~(step - 1)) | step;
}

inline std::uint16_t encode_f16(double value) { return HalfFormat<5, 10>::encode(value); }
inline std::uint16_t encode_bf16(double value) { return HalfFormat<8, 7>::encode(value); }
inline float decode_f16(std::uint16_t bits) { return HalfFormat<5, 10>::decode(bits); }
inline float decode_bf16(std::uint16_t bits) { return HalfFormat<8, 7>::decode(bits); }

}  // namespace tap
