// Converts the shardings of the tensors at one site to axes per factor, and back.
//
//   x @ m[{a, b}] with its axis of factors i=2, j=4, mesh a=2, b=2     i: {a}   j: {b}
//   x @ m[{a}] with i=2, j=4, mesh a=4                                 i: {a:(1)2}   j: {a:(2)2}
//
// A factor that is not the minor one of its axis must be sharded evenly and completely before the next one is
// sharded; axes that do not fit are overflow: they shard the axis but no factor, and no later factor can be sharded.
#pragma once

#include "ir/shardings/axis_algebra.h"
#include "passes/shardings/factors.h"

namespace tap::passes {

struct FactorAxes {
  std::uint32_t factor = 0;
  ir::Axes axes;
  ir::Axes overflow;
  bool closed = false;  // no axis can be added
  bool minor = true;    // the last factor of its axis
  bool operator==(const FactorAxes&) const = default;
};

struct TensorAxes {
  std::vector<FactorAxes> factors;  // in the order of the tensor's axes
  ir::Axes replicated, unreduced;
  std::string unreduced_monoid;

  const FactorAxes* find(std::uint32_t factor) const;
  FactorAxes* find(std::uint32_t factor);
};

TensorAxes axes_by_factor(const ir::Mesh& mesh, const Factors& all, const TensorFactors& tensor,
                          const std::optional<ir::Sharding>& sharding);
// Without priorities. `id` is the mesh's.
ir::Sharding sharding_from(const ir::Mesh& mesh, ir::MeshId id, const Factors& all, const TensorFactors& tensor,
                           const TensorAxes& axes);

}  // namespace tap::passes
