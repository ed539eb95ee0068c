// A row of tasks is treated as one task, so a proof covers any number of them.
//
//   y[i] = x[i - 1] on [0..1, 0..4] times 4 by (1, 4, …)      as if it were on [0..4, 0..16]: blocks 0..4
#include <algorithm>

#include "replay/execution.h"

namespace tap::check {

namespace {

// Whether all these blocks have the size of the first one. Blocks given by count never grow, so the first and the total
// determine each.
bool are_alike(const ir::Blocks& blocks, ir::Range range, ir::Range numbers, std::int64_t size) {
  auto begin = [&](std::int64_t n) { return edge(blocks, range, n); };
  if (blocks.boundaries.empty())
    return begin(numbers.lo + 1) == begin(numbers.lo) + size &&
           begin(numbers.hi) - begin(numbers.lo) == checked::mul(size, numbers.hi - numbers.lo);
  for (std::int64_t n = numbers.lo; n < numbers.hi; ++n)
    if (begin(n + 1) != begin(n) + size) return false;
  return true;
}

}  // namespace

void check_blocks(const ir::Operator& op, const Box& first, const ir::Row& row, bool streamed, bool parts,
                  Obligation obligation) {
  const Moving box = moving(row, first);
  Moving expected = moving(row, box_of(op));
  for (Along& begin : expected.begins) std::ranges::fill(begin.steps, 0);
  std::vector<bool> streams(first.rank(), false);  // streamed block by block
  for (const ir::Blocking& b : op.blockings) {
    const ir::Range number = first.dims[b.block_dim];
    const Along& block_begin = box.begins[b.block_dim];
    if (op.dims[b.block_dim].role == ir::DimRole::reduction) {
      if (streamed) expected.begins[b.block_dim].first = 0, expected.sizes[b.block_dim] = 1;
      streams[b.dim] = true;
      continue;
    }
    if (number.empty()) continue;
    expect(obligation, number.hi == number.lo + 1, "dim {} does not have a single block number", b.block_dim);
    const ir::Range all = reach(row, block_begin);
    expect(obligation, all.lo >= 0 && all.hi <= b.blocks.count && !streams[b.dim], "dim {} has an invalid block number",
           b.block_dim);
    Along& begin = expected.begins[b.dim];
    const ir::Range range{begin.first, begin.first + expected.sizes[b.dim]};
    begin.first = edge(b.blocks, range, number.lo);
    expected.sizes[b.dim] = edge(b.blocks, range, number.hi) - begin.first;
    bool alike = stays(block_begin) || are_alike(b.blocks, range, all, expected.sizes[b.dim]);
    expect(obligation, alike && (stays(begin) || b.blocks.boundaries.empty()), "the blocks of dim {} differ in size",
           b.dim);
    begin = sum(std::move(begin), Along{0, block_begin.steps}, expected.sizes[b.dim]);
  }
  for (std::size_t d = 0; d < first.rank(); ++d) {
    const Along &has = box.begins[d], &begin = expected.begins[d];
    const ir::Range all{begin.first, begin.first + expected.sizes[d]};
    const ir::Range actual = has.steps == begin.steps ? first.dims[d] : reach(row, has, box.sizes[d]);
    bool together = has.steps == begin.steps || (stays(begin) && op.dims[d].role == ir::DimRole::parallel);
    auto numbers = [d](const ir::Blocking& b) { return b.block_dim == d; };
    const bool part = parts || std::ranges::any_of(op.blockings, numbers);
    bool fits = part && op.dims[d].role == ir::DimRole::parallel ? all.contains(actual) : actual == all;
    expect(obligation, together && (fits || (first.dims[d].empty() && all.empty())),
           "dim {} runs over {}..{}, expected {}..{}", d, actual.lo, actual.hi, all.lo, all.hi);
  }
}

namespace {

// Whether each access depends on at most one of the dims, itself or by a constraint: the hull of all boxes then touches
// what the boxes touch. No result may be invariant in one of them, since each box would write the same cells.
bool is_disjoint(const ir::Operator& op, const std::vector<ir::Access>& accesses,
                 const std::vector<std::size_t>& dims) {
  return std::ranges::all_of(accesses, [&](const ir::Access& access) {
    auto depends = [&](std::size_t d) {
      return is_indexed_by(access, d) || std::ranges::any_of(op.constraints, [&](const ir::Constraint& c) {
               return restricts_cells(op, c) && uses_dim(c.expr, d);
             });
    };
    auto same = [&](std::size_t d) { return std::ranges::count(access.invariant_dims, d) > 0; };
    return std::ranges::count_if(dims, depends) <= 1 && std::ranges::none_of(dims, same);
  });
}

// Merges the boxes of a row: one box begins at the end of the previous one, and `joins` allows it.
template <class Joins>
std::vector<Box> joined(const Box& first, const ir::Row& row, Joins joins) {
  std::vector<Box> boxes{first};
  for (auto level = row.rbegin(); level != row.rend(); ++level) {
    std::vector<std::size_t> dims;
    bool side_by_side = true;
    for (std::size_t d = 0; d < first.rank(); ++d)
      if (level->steps[d] != 0) dims.push_back(d), side_by_side &= level->steps[d] == boxes[0].dims[d].size();
    if (side_by_side && joins(dims)) {
      for (Box& box : boxes)
        for (std::size_t d : dims) box.dims[d].hi += checked::mul(level->steps[d], level->count - 1);
      continue;
    }
    std::vector<Box> all;
    expect_few(checked::mul(std::ssize(boxes), level->count));
    for (const Box& box : boxes)
      for (std::int64_t n = 0; n < level->count; ++n) {
        Box& one = all.emplace_back(box);
        for (std::size_t d : dims) {
          const std::int64_t by = checked::mul(level->steps[d], n);
          one.dims[d] = {checked::add(one.dims[d].lo, by), checked::add(one.dims[d].hi, by)};
        }
      }
    boxes = std::move(all);
  }
  return boxes;
}

}  // namespace

std::vector<Box> points_of(const ir::Operator& op, const Box& first, const ir::Row& row) {
  std::vector<Box> boxes = joined(first, row, [&](const std::vector<std::size_t>& dims) {
    return is_disjoint(op, op.reads, dims) && is_disjoint(op, op.writes, dims);
  });
  for (Box& box : boxes)
    for (const ir::Blocking& b : op.blockings)
      if (op.dims[b.block_dim].role == ir::DimRole::reduction) box.dims[b.block_dim] = {0, 1};
  return boxes;
}

std::vector<Box> points_that_write(const ir::Operator& op, const ir::Access& by, const Box& first, const ir::Row& row) {
  const std::vector<std::size_t> relevant = relevant_dims(op, by);
  return joined(first, row, [&](const std::vector<std::size_t>& dims) {
    return is_disjoint(op, {by}, dims) && std::ranges::find_first_of(dims, relevant) != dims.end();
  });
}

std::vector<Box> all_of(const Box& first, const ir::Row& row) {
  return joined(first, row, [](const std::vector<std::size_t>& dims) { return dims.size() <= 1; });
}

}  // namespace tap::check
