// Calls in a row are looked at as one: so what is proved of them is proved once, for any number.
//
//   y[i] = x[i - 1] on [0..1, 0..4], 4 times along (0, 1)      as if it were on [0..4, 0..16]: blocks 0..4
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

Box all_of(const Box& first, const ir::Row& row) {
  Box all = row.at(first, row.count - 1);
  for (std::uint32_t d : row.dims) all.dims[d].lo = first.dims[d].lo;
  return all;
}

namespace {

// Whether the dim is cut, last of all, into blocks with these numbers, and those of the row are of one size: blocks that are
// not written out never grow, so that the first and the end of the last tell of all.
bool is_cut_by(const ir::Operator& op, std::uint32_t number, std::uint32_t dim, const Box& first, const ir::Row& row) {
  const ir::Range block = first.dims[dim];
  ir::Range rest = op.dims[dim].range;
  bool cut = false;
  for (const ir::Blocking& b : op.blockings) {
    if (b.dim != dim) continue;
    const std::int64_t r = first.dims[b.block_dim].lo;
    const bool last = b.block_dim == number, moves = std::ranges::count(row.dims, b.block_dim) > 0;
    bool there = r >= 0 && r <= b.blocks.count - (last ? row.count : 1);
    if (cut || last != moves || !there || op.dims[b.block_dim].role == ir::DimRole::reduction) return false;
    auto begins = [&](std::int64_t n) {
      return edge(b.blocks, rest, r + n) == checked::add(block.lo, checked::mul(n, block.size()));
    };
    const std::int64_t all = b.blocks.boundaries.empty() ? 1 : row.count;
    for (std::int64_t n = 0; last && n <= all; ++n)
      if (!begins(n)) return false;
    if (last && !begins(row.count)) return false;
    rest = {edge(b.blocks, rest, r), edge(b.blocks, rest, r + 1)};
    cut = last;
  }
  return cut;
}

// Whether the row goes along the number of a block and just the dims that it cuts, or along one dim that is not cut.
bool is_led_by(const ir::Operator& op, std::uint32_t number, const Box& first, const ir::Row& row) {
  std::ptrdiff_t cut = 0;
  for (std::uint32_t d : row.dims) cut += d != number && is_cut_by(op, number, d, first, row);
  return op.dims[number].role == ir::DimRole::parallel && cut + 1 == std::ssize(row.dims) &&
         std::ranges::count(op.blockings, number, &ir::Blocking::block_dim) == cut &&
         std::ranges::count(op.blockings, number, &ir::Blocking::dim) == 0;
}

// Whether no access tells two of the dims: then the points of all boxes, put into one, touch what the points of each touch. And
// where a result does not depend on a dim, each of them touches the same.
bool is_apart(const std::vector<ir::Access>& accesses, const std::vector<std::uint32_t>& dims) {
  return std::ranges::all_of(accesses, [&](const ir::Access& access) {
    auto told = [&](std::uint32_t d) { return is_told_by(access, d); };
    auto same = [&](std::uint32_t d) { return std::ranges::count(access.invariant_dims, d) > 0; };
    return std::ranges::count_if(dims, told) <= 1 && std::ranges::none_of(dims, same);
  });
}

}  // namespace

std::vector<Box> in_one(const ir::Operator& op, const Box& first, const ir::Row& row, Obligation obligation) {
  check_single(op, first, obligation);
  auto leads = [&](std::uint32_t d) { return is_led_by(op, d, first, row); };
  if (row.count == 1) return {first};
  if (std::ranges::any_of(row.dims, leads) && is_apart(op.reads, row.dims) && is_apart(op.writes, row.dims))
    return {all_of(first, row)};
  for (std::uint32_t d : row.dims)
    expect(obligation, op.dims[d].range.contains(all_of(first, row).dims[d]), "a row of {} ends behind dim {}",
           row.count, d);
  std::vector<Box> boxes;
  for (std::int64_t n = 0; n < row.count; ++n) boxes.push_back(row.at(first, n));
  return boxes;
}

}  // namespace tap::check
