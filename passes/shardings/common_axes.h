// Which axes cut each factor of an operation whose tensors have shardings of their own that may contradict each other. What
// comes out is one list of axes per factor: tensors that differ from it are resharded.
//
//   x @ [{a}, {b}]   w @ [{b}, {}]   y[i, o] = sum[k] x[i, k] * w[k, o] @ [{}, {a}]      i: {a}  k: {b}: only y is resharded
//
// After Shardy's pass that inserts explicit reshards: agreement is kept; of two tensors one is followed; else lists of axes
// compete, those first that are on more cells of tensors.
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
