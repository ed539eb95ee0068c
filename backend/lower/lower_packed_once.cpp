// Threads take a call's tiles in several portions. What none of the tiles changes is packed by a thread's first call, and the
// panels stay in its scratch memory for the next ones:
//
//   if not done[0]
//     for … { panel[p, k, s] = b[k, 32*p + s] }
//     done[0] = true
//   for i … { … }                                the tiles: rows of the result
//
// `done` is the first of the local tensors: the executor clears it before a thread's first call on a box (kernel_abi.h).
#include <algorithm>

#include "backend/lower/lowering.h"

namespace tap::backend {

using namespace ir;

// The lanes' panels are one block, and no tile has panels of its own.
bool Lowering::is_packed_once(const RegisterTile& tile, const Packing& packing, const Extents& extents) const {
  if (!calls_ || packing.lane_reads.empty() || packing.by_first_rows || packing.chunked) return false;
  if (kernel_.tensors.size() != kernel_.operands + kernel_.results) return false;
  if (extents.most(op_, tile.dim) > packing.lane_block || *calls_ == frame_.at[tile.dim]) return false;
  for (std::size_t d : dims_with(false)) {
    if (d == tile.dim || d == *tile.rows || !followed_by_lanes(packing, d)) continue;
    if (*calls_ == frame_.at[d] || (d != packing.packed_dim && extents.most(op_, d) != 1)) return false;
  }
  const auto kept = [&](std::uint32_t read) { return can_prepare(op_.reads[read]); };
  return std::ranges::none_of(packing.lane_reads, kept);  // they are not packed here
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
