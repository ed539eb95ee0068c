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

// By dim, the extent of a box, exact or approximate. Calls may split it (Kernel::tile_dim).
struct Extents {
  std::vector<std::int64_t> sizes;
  std::vector<bool> exact;  // every box has this extent
  bool bounded = false;     // no box is larger
  // By dim, the dims of the kernel's box that its extent depends on; empty if none.
  std::vector<std::vector<std::uint32_t>> follows = {};
  std::int64_t most(const ir::Operator& op, std::size_t dim) const {
    return exact[dim] || bounded ? sizes[dim] : op.dims[dim].range.size();
  }
};
Extents extents_of(const ir::Operator& op);

bool is_constrained(const ir::Operator& op, std::size_t dim);

// The reduction dim whose range is bounded by this parallel dim, if nothing else relates it to other dims.
//
//   y[i] = sum[k in 0..i+1] x[i, k]      k, for i: rows of i have a range of k in common, and each the rest of its own
std::optional<std::size_t> ragged_along(const ir::Operator& op, std::size_t dim);

// The number of lanes is based on this size, not on the machine's registers, since results must not depend on them.
inline constexpr std::int64_t full_vector_bytes = ir::reference_machine.vector_bytes;
// The most steps of a reduction in one block of packed operands (packing.h).
inline constexpr std::int64_t most_packed_steps = 768;

struct RegisterTile {
  std::size_t dim = 0;  // the dim of the lanes
  std::uint32_t lanes = 1;
  std::uint32_t vectors = 1;        // adjacent vectors along `dim`
  bool along_reduction = false;     // lanes are partials
  std::optional<std::size_t> rows;  // another dim, `row_count` points of which are computed at a time
  std::uint32_t row_count = 1;
  bool operator==(const RegisterTile&) const = default;
};
// Empty if vectors do not help. Pre: the cells are harmless (cell_placement.h). Without `reassociate`, each result is
// combined in source order. Whether lanes run along a reduction, and the number of lanes and vectors then, depend only
// on the program and its plan; the machine, and `prepared`, decide only what does not affect results. `prepared`: by
// operand, whether packing it in lane order is free, since that happens before the program runs.
std::optional<RegisterTile> choose_tile(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                                        bool reassociate, const ir::Machine& machine,
                                        const std::vector<bool>& prepared = {});

// The estimated cycles of all points, with the best tile that keeps the order of a reduction.
double cost_of_tile(const ir::Program& program, const ir::Operator& op, const Extents& extents,
                    const ir::Machine& machine, const std::vector<bool>& prepared);

// Whether a few rows are completed along all lanes before the next rows: after a short reduction the results are most of the
// traffic, and a narrow strip of many rows touches a page for each.
bool rows_come_first(const ir::Operator& op, const RegisterTile& tile, const Extents& extents,
                     const ir::Machine& machine);

// Whether rows share nothing that they read in lanes, and are farther apart in memory than what lies at different points of these dims:
// then the loops over the dims are inside the one over rows.
bool rows_are_outside(const ir::Operator& op, const RegisterTile& tile, const std::vector<std::size_t>& inside);

// How many lanes are then done for all rows before the next ones, so that what they read stays in the first cache. 0: all.
std::int64_t lanes_in_first_cache(const ir::Operator& op, const RegisterTile& tile, const Extents& extents,
                                  const ir::Machine& machine);

// Whether the position of the access depends on the dim.
bool uses(const ir::Access& access, std::size_t dim);

}  // namespace tap::backend
