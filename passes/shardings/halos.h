// Halos: cells that windows read beyond the edges of a block, and that its neighbours hold.
//
//   y[i] = x[i - 1] + x[i] + x[i + 1], x @ m[{a}]      axis 0: -1..1, two cells for each device
#pragma once

#include "ir/shardings/sharding.h"
#include "passes/shardings/factors.h"

namespace tap::passes {

struct HaloEdge {
  std::size_t axis = 0;
  std::int64_t before = 0, after = 0;  // from below a block's own cells to above them
  bool operator==(const HaloEdge&) const = default;
};
struct Halo {
  std::int64_t cells = 0;  // of the largest block
  std::vector<HaloEdge> edges = {};
  bool operator==(const Halo&) const = default;
};

// For an operand with this sharding.
Halo halo_of(const ir::Mesh& mesh, const Factors& factors, std::size_t operand, const ir::Sharding& sharding,
             const Shape& shape);

}  // namespace tap::passes
