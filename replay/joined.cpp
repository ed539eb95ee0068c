// Calls that do one block after the other are looked at as one: so what is proved of them is proved once, for any number.
//
//   y[i] = x[i - 1] on [0..4] as block 0, on [4..8] as block 1, …      as if it were on [0..16] as blocks 0..4
#include <algorithm>

#include "replay/execution.h"

namespace tap::check {

void check_single(const ir::Operator& op, const Box& box, Obligation obligation) {
  for (const ir::Blocking& b : op.blockings) {
    const ir::Range number = box.dims[b.block_dim];
    bool one = op.dims[b.block_dim].role == ir::DimRole::reduction || number.empty() || number.hi == number.lo + 1;
    expect(obligation, one, "dim {} has not one block number", b.block_dim);
  }
}

namespace {

// Whether no access tells both the number of a block and a dim that it cuts: then the points of several blocks, put into one
// box, touch what the points of each touch.
bool is_apart(const ir::Operator& op, std::uint32_t number) {
  auto apart = [&](const ir::Access& access) {
    return !is_told_by(access, number) || std::ranges::none_of(op.blockings, [&](const ir::Blocking& b) {
      return b.block_dim == number && is_told_by(access, b.dim);
    });
  };
  return std::ranges::all_of(op.reads, apart) && std::ranges::all_of(op.writes, apart);
}

// What the blockings up to the k-th leave of the dim that this one cuts, by the numbers of blocks that the box has.
std::optional<ir::Range> block_of(const ir::Operator& op, const Box& box, std::size_t k) {
  ir::Range block = op.dims[op.blockings[k].dim].range;
  for (std::size_t cut = 0; cut <= k; ++cut) {
    const ir::Blocking& b = op.blockings[cut];
    const ir::Range number = box.dims[b.block_dim];
    if (b.dim != op.blockings[k].dim || op.dims[b.block_dim].role == ir::DimRole::reduction) continue;
    if (number.empty() || number.lo < 0 || number.hi > b.blocks.count) return std::nullopt;
    block = {edge(b.blocks, block, number.lo), edge(b.blocks, block, number.hi)};
  }
  return block;
}

// Whether `next` differs in no more than in being the blocks that follow on those of `all`.
bool follows(const ir::Operator& op, std::uint32_t number, const Box& all, const Box& next) {
  for (std::uint32_t d = 0; d < next.rank(); ++d) {
    bool cut = d == number;
    for (std::size_t k = 0; k < op.blockings.size(); ++k) {
      if (op.blockings[k].block_dim != number || op.blockings[k].dim != d) continue;
      cut = true;
      std::optional<ir::Range> block = block_of(op, next, k);
      if (block != next.dims[d] || all.dims[d].hi != next.dims[d].lo) return false;
    }
    if (!cut && all.dims[d] != next.dims[d]) return false;
  }
  return true;
}

bool join(const ir::Operator& op, ir::KernelCall& all, const ir::KernelCall& next) {
  if (all.operations != next.operations || all.buffers != next.buffers || all.counters != next.counters) return false;
  for (const ir::Blocking& b : op.blockings) {
    const std::uint32_t number = b.block_dim;
    bool advances = op.dims[number].role != ir::DimRole::reduction && !all.box.dims[number].empty() &&
                    all.box.dims[number].hi == next.box.dims[number].lo;
    if (!advances || !follows(op, number, all.box, next.box) || !is_apart(op, number)) continue;
    all.box.dims[number].hi = next.box.dims[number].hi;
    for (const ir::Blocking& cuts : op.blockings)
      if (cuts.block_dim == number) all.box.dims[cuts.dim].hi = next.box.dims[cuts.dim].hi;
    return true;
  }
  return false;
}

}  // namespace

void add_call(const ir::Operator& op, ir::KernelCall call, std::vector<ir::KernelCall>& calls, Obligation obligation) {
  check_single(op, call.box, obligation);
  calls.push_back(std::move(call));
  while (calls.size() > 1 && join(op, calls.end()[-2], calls.back())) calls.pop_back();
}

}  // namespace tap::check
