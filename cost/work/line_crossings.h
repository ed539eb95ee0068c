// How many accesses of the first cache a vector takes: those whose address is no multiple of their width may cross from one
// cache line into the next, which takes longer.
//
//   u[i, j], u[i, j - 1]      vectors of 64 or 32 bytes: 1 and 1.7
#pragma once

#include <cstdint>
#include <vector>

#include "ir/affine.h"
#include "ir/operator.h"

namespace tap::cost {

// A loop around the access.
struct Progress {
  std::uint32_t variable = 0;
  double step = 1, rounds = 1;
};

// Of an access to consecutive cells along the last axis, `width` bytes each time. Tensors and tiles begin at whole lines.
double accesses_per_vector(const std::vector<ir::AffineExpr>& at, const ir::TensorType& type,
                           const std::vector<Progress>& loops, std::int64_t width, std::int64_t line);

}  // namespace tap::cost
