// Threads take a call's tiles in several portions. What none of the tiles changes is packed by a thread's first call, and the
// panels stay in its scratch memory for the next ones:
//
//   if not done[0]
//     for … { panel[p, k, s] = b[k, 32*p + s] }
//     done[0] = true
//   for i … { … }                                the tiles: rows of the result
//
// `done` is the first of the local tensors: the executor clears it before a thread's first call on a box (kernel_abi.h).
//
// Likewise what no tile of a group changes is packed in the first one:
//
//   for it in lo_i..hi_i step 16
//     if it - lo_i = 0
//       for … { panel[p, c, s] = k[32*p + s, c] }
//     for i in it..it+16 … { … }
#include <algorithm>

#include "backend/lower/lowering.h"

namespace tap::backend {

using namespace ir;

// The lanes' panels are one block, which is packed here.
bool Lowering::lanes_are_one_block(const RegisterTile& tile, const Packing& packing, const Extents& extents) const {
  if (packing.lane_reads.empty() || packing.by_first_rows || packing.chunked) return false;
  if (extents.most(op_, tile.dim) > packing.lane_block) return false;
  for (std::size_t d : dims_with(false)) {
    if (d == tile.dim || d == *tile.rows || !followed_by_lanes(packing, d)) continue;
    if (d != packing.packed_dim && extents.most(op_, d) != 1) return false;
  }
  return std::ranges::none_of(packing.lane_reads, [&](std::uint32_t read) { return can_prepare(op_.reads[read]); });
}

// No tile has panels of its own.
bool Lowering::is_packed_once(const RegisterTile& tile, const Packing& packing, const Extents& extents) const {
  if (!calls_ || *calls_ == frame_.at[tile.dim] || !lanes_are_one_block(tile, packing, extents)) return false;
  if (kernel_.tensors.size() != kernel_.operands + kernel_.results) return false;
  return std::ranges::none_of(dims_with(false), [&](std::size_t d) {
    return d != tile.dim && d != *tile.rows && followed_by_lanes(packing, d) && *calls_ == frame_.at[d];
  });
}

// In all tiles, if some have panels of their own.
std::vector<Statement> Lowering::in_first_tile(const RegisterTile& tile, const Packing& packing, const Extents& extents,
                                               std::vector<Statement> work) const {
  if (!lanes_are_one_block(tile, packing, extents)) return work;
  const auto is_kept = [&](std::uint32_t read) {
    const std::uint32_t tensor = op_.reads[read].tensor;
    return tensor < kept_.size() && kept_[tensor];
  };
  if (!std::ranges::all_of(packing.lane_reads, is_kept)) return work;
  const auto moved_by = [&](const TileLoop& tiles) {
    const auto moves = [&](std::uint32_t v) { return v < tiles.moves.size() && tiles.moves[v]; };
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      for (std::uint32_t read : packing.lane_reads)
        if (uses(op_.reads[read], d) && (moves(frame_.lo[d]) || moves(frame_.hi[d]))) return true;
    return false;
  };
  Guard first;
  for (const TileLoop& tiles : around_) {
    if (moved_by(tiles)) break;
    first.conditions.push_back({plus(variable(tiles.variable), tiles.first, -1), Comparison::equal_zero});
  }
  if (first.conditions.empty()) return work;
  first.body = std::move(work);
  return {{std::move(first)}};
}

std::uint32_t Lowering::done_flag() {
  TensorArgument flag;
  flag.name = "done";
  flag.type = {ElementType::boolean, {1}};
  flag.local = {{1}, {number(0)}, {}};
  kernel_.tensors.push_back(std::move(flag));
  return static_cast<std::uint32_t>(kernel_.tensors.size() - 1);
}

std::vector<Statement> Lowering::unless_done(std::uint32_t flag, std::vector<Statement> work) {
  Load load;
  load.tensor = flag;
  load.at.push_back({number(0), {}, false});
  const CellId done = kernel_.exprs.read(static_cast<std::uint32_t>(kernel_.loads.size()), ElementType::boolean);
  kernel_.loads.push_back(std::move(load));
  Guard first;
  first.cell = kernel_.exprs.apply(CellOp::logical_not, ElementType::boolean, {done});
  first.body = std::move(work);
  first.body.push_back({Store{{{flag, {number(0)}, kernel_.exprs.constant(Scalar::boolean(true))}}}});
  return {{std::move(first)}};
}

}  // namespace tap::backend
