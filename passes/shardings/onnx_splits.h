// Expresses the shards of a tensor's axes as splits of the factors of these axes.
//
//   x[8] in 4, read at 4*i + j with i < 2      i: 2 in 2, j: 4 in 2
//   x[10] in 2, read at i + u with i < 8       i: 8 in 2; the window's u takes what it needs from other shards
#pragma once

#include "ir/shardings/onnx_spec.h"
#include "passes/shardings/factors.h"

namespace tap::passes::onnx {

// The factors of an axis by which it can be split: all of them if they cover it exactly; else the first.
std::vector<std::uint32_t> bound_factors(const Factors& factors, const AxisFactors& axis, std::int64_t extent);

// By bound factor; empty if a shard boundary lies within a factor's block.
std::optional<std::vector<ir::onnx::Parts>> splits_of(const ir::onnx::Parts& axis, const Factors& factors,
                                                      const std::vector<std::uint32_t>& bound, std::int64_t extent);
// The inverse.
ir::onnx::Parts axis_of_splits(const std::vector<ir::onnx::Parts>& splits, const Factors& factors,
                               const std::vector<std::uint32_t>& bound, std::int64_t extent);

}  // namespace tap::passes::onnx
