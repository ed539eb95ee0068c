// Register tiles: an operator's innermost loops compute several vectors along one dim and several rows along another
// at a time, so that each load is used often. Chosen from projections and sizes.
//
//   y[i, j] = sum[k] a[i, k] * b[k, j]      lanes along j, since y and b are dense in j; rows along i, which b does not need
//   s[i] = sum[k] a[i, k]                   lanes along k: each sums every 64th cell, and they are combined at the end
#pragma once

#include <optional>

#include "ir/graph_ids.h"
#include "ir/machine.h"
#include "ir/operator.h"

namespace tap::backend {

// By dim, how large a box is, or about how large. Calls may cut it (Kernel::cut).
struct Extents {
  std::vector<std::int64_t> sizes;
  std::vector<bool> exact;  // every box is that large
  bool bounded = false;     // none is larger
  // The dims of the kernel's box on whose sizes these sizes depend; empty where on none.
  std::vector<std::vector<std::uint32_t>> follows = {};
  std::int64_t most(const ir::Operator& op, std::size_t dim) const {
    return exact[dim] || bounded ? sizes[dim] : op.dims[dim].range.size();
  }
};
Extents extents_of(const ir::Operator& op);

bool is_constrained(const ir::Operator& op, std::size_t dim);

// Lanes are counted in vectors of this size, whatever the registers of the machine: a result must not depend on them.
inline constexpr std::int64_t full_vector_bytes = ir::reference_machine.vector_bytes;

struct RegisterTile {
  std::size_t dim = 0;  // of the lanes
  std::uint32_t lanes = 1;
  std::uint32_t vectors = 1;        // side by side along `dim`
  bool along_reduction = false;     // lanes are partial results
  std::optional<std::size_t> rows;  // another dim, of which `row_count` are done at a time
  std::uint32_t row_count = 1;
  bool operator==(const RegisterTile&) const = default;
};
// Empty if there is nothing to be had from vectors. Pre: the cells are harmless (cell_places.h). Unless `reassociate`, each
// result is combined in the order of the source. Whether lanes run along a reduction, how many and how many vectors of them,
// is a function of the program and its plan: a machine decides only what changes no result, and so does `prepared`: by
// operand, whether a copy in the order of lanes costs nothing, since it is made before the program runs.
std::optional<RegisterTile> choose_tile(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                                        bool reassociate, const ir::Machine& machine,
                                        const std::vector<bool>& prepared = {});

// For a scan along `along`, whose steps follow each other: lanes along a dim in which all tensors are contiguous; else several
// rows at a time, each with its own chain of steps. Each result is combined in the same order as without.
std::optional<RegisterTile> choose_scan_tile(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                                             std::size_t along, const ir::Machine& machine);

// Whether where the access lies depends on the dim.
bool uses(const ir::Access& access, std::size_t dim);

}  // namespace tap::backend
