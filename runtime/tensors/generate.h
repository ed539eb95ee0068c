// Generated tensors. The value of an element depends only on the generator and the element's row-major position, so
// it is the same on every machine and for any sharding.
//
// rand:SEED    with h = splitmix64(SEED · 0xD1B54A32D192ED03 + position):
//                floats    (h mod 256) / 128 - 1: multiples of 2^-7 in [-1, 1), exact in every float type. Products are
//                          multiples of 2^-14, so dot products of up to 1024 elements are exact in f32 in any order
//                          (and far longer ones in practice, as the signs cancel): results can be compared bit by bit
//                integers  uniform in [-8, 8]; u8 in [0, 8]
//                bool      the lowest bit of h
// randn:SEED   floats only: about normal, mean 0 and variance 1, within ±6: the sum of twelve uniform numbers of 16 bits,
//              minus 6 (integer arithmetic only, no libm), rounded to the type
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/tensors/literal.h"
#include "support/tensor.h"

namespace tap {

struct Maker {
  enum class Kind : std::uint8_t { zeros, ones, iota, constant, rand, randn };
  Kind kind = Kind::zeros;
  std::uint64_t seed = 0;             // of rand, randn
  Number constant = std::int64_t{0};  // of constant
  bool operator==(const Maker&) const = default;
};

std::uint64_t splitmix64(std::uint64_t state);

// Throws Failure, exit 2, with `spec`, if the type cannot represent a value. `iota` wraps in an integer type; in a
// float type, positions are rounded.
void fill(Tensor& tensor, const Maker& maker, std::string_view spec);
// The same for a box of a tensor of shape `whole`, which begins at `begin`: it gets the values that it has there.
void fill_part(Tensor& tensor, const Shape& begin, const Shape& whole, const Maker& maker, std::string_view spec);

}  // namespace tap
