// Chooses the axes of each factor of an operation whose tensors have possibly conflicting shardings. The result is
// one list of axes per factor; tensors that differ from it are resharded.
//
//   x @ [{a}, {b}]   w @ [{b}, {}]   y[i, o] = sum[k] x[i, k] * w[k, o] @ [{}, {a}]      i: {a}  k: {b}: only y is resharded
//
// Follows Shardy's pass for explicit reshards: shardings that agree are kept; with two tensors, one of them is
// followed; otherwise lists of axes compete, those on more cells of tensors first.
#pragma once

#include "passes/shardings/factor_axes.h"

namespace tap::passes {

// One tensor of an operation: its axes by factor, its cells.
struct FactoredTensor {
  const TensorFactors* factors = nullptr;
  TensorAxes axes;
  std::int64_t cells = 1;
  bool scalar() const { return factors->axes.empty(); }
};

// By factor. No axis is in two lists; a factor that needs replication has none.
std::vector<ir::Axes> common_axes(const ir::Mesh& mesh, const Factors& factors,
                                  const std::vector<FactoredTensor>& tensors);

}  // namespace tap::passes
