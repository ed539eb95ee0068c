#include "backend/tiles/register_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "backend/tiles/point_work.h"
#include "ir/block_graph.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::uint32_t most_rows = 16;
constexpr std::uint32_t most_vectors = 8;

// Consecutive streamed blocks of a reduction run as one (box_to_run).
bool runs_whole(const Operator& op, const Blocking& b) { return op.dims[b.block_dim].role == DimRole::reduction; }

bool all_blocks_are_equal(const Operator& op, std::uint32_t dim) {
  constexpr std::int64_t looked_at = 4096;
  const Blocking* only = nullptr;
  for (const Blocking& b : op.blockings) {
    if (b.dim != dim || runs_whole(op, b)) continue;
    if (only) return false;
    only = &b;
  }
  if (!only) return true;
  Range numbers = op.dims[only->block_dim].range;
  if (numbers.size() > looked_at) return false;
  for (std::int64_t n = numbers.lo; n < numbers.hi; ++n)
    if (only->blocks.block(op.dims[dim].range, n).size() != only->blocks.block(op.dims[dim].range, numbers.lo).size())
      return false;
  return true;
}

bool holds(Law law) { return law == Law::proved || law == Law::assumed; }

class Chooser {
 public:
  Chooser(const Program& program, const Operator& op, const Extents& extents, const Machine& machine,
          const std::vector<bool>& prepared = {})
      : op_(op), extents_(extents), work_(program, op, extents, prepared, machine) {
    const std::int64_t all = machine.vector_registers;
    registers_ = static_cast<std::uint32_t>(std::max<std::int64_t>(all - std::max<std::int64_t>(all / 16, 1), 1));
  }

  // With `masks_tails`, all vectors of a tail of known size are one tile. Not to decide what affects the bits of a result.
  std::optional<RegisterTile> run(bool reassociate, bool masks_tails = false) {
    masks_tails_ = masks_tails;
    std::uint32_t natural = static_cast<std::uint32_t>(full_vector_bytes) / work_.bytes();
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (extents_.sizes[d] < 2) continue;
      std::uint32_t lanes = natural;
      while (lanes > 2 && lanes / 2 >= extents_.sizes[d]) lanes /= 2;
      bool parallel = op_.dims[d].role == DimRole::parallel && !is_constrained(op_, d);
      bool along = op_.dims[d].role == DimRole::reduction && reassociate && may_reorder() &&
                   !is_block_dim(op_, static_cast<std::uint32_t>(d));
      if (parallel || along) try_dim(d, lanes, along);
    }
    if (best_cost_ >= scalar_cost()) return {};
    return best_;
  }

  double cost() const { return std::min(best_cost_, scalar_cost()); }

  // Along the same dim, row by row.
  RegisterTile one_row(RegisterTile tile) {
    tile.rows.reset();
    tile.row_count = 1;
    for (tile.vectors = 1; tile.vectors <= most_vectors; ++tile.vectors)
      if (tile.vectors == 1 || static_cast<std::int64_t>(tile.vectors * tile.lanes) <= extents_.sizes[tile.dim])
        consider(tile);
    return *best_;
  }

  // The same order of combination as `tile`: chooses only the rows again.
  std::optional<RegisterTile> with_rows_for(const RegisterTile& tile) {
    try_rows({tile.dim, tile.lanes, tile.vectors, tile.along_reduction, {}, 1});
    return best_ ? best_ : tile;
  }

 private:
  bool may_reorder() const {
    return work_.monoid() && holds(work_.monoid()->laws.commutative) && holds(work_.monoid()->laws.associative);
  }
  double size(std::size_t d) const { return static_cast<double>(extents_.sizes[d]); }
  // Points of all other dims.
  double others(std::size_t dim, std::optional<std::size_t> rows) const {
    double points = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (d != dim && d != rows) points *= size(d);
    return points;
  }
  double results() const {
    double points = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role != DimRole::reduction) points *= size(d);
    return points;
  }
  // Over the results: a long reduction is processed in blocks (packing.h), all but the first of which read what they add to.
  double passes(const RegisterTile& tile) const {
    constexpr double steps_of_window = 2048;
    const bool window = work_.reads_window({tile.dim, tile.rows, tile.lanes, tile.row_count, tile.vectors});
    const double block = window ? steps_of_window : static_cast<double>(most_packed_steps);
    double points = 1;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role == DimRole::reduction) points *= size(d);
    return points <= 1.5 * block ? 1 : 2 * std::ceil(points / block) - 1;
  }
  double scalar_cost() const {
    PointWork::Tile one{0, {}, 1, 1, 1};
    double step = std::max((work_.instructions(one) + 1) / 2, latency());
    return others(op_.dims.size(), {}) * step + results() * work_.stores(0, 1) / 2;
  }
  // Of a chain of combinations, each of which depends on the previous one.
  double latency() const { return work_.monoid() ? 4 * std::max(1.0, work_.combination() / 2) : 0; }
  double time(const PointWork::Tile& tile) const { return std::max(work_.instructions(tile) / 2 + 0.5, latency()); }

  void try_dim(std::size_t dim, std::uint32_t lanes, bool along) {
    if (op_.map()) {
      try_rows({dim, lanes, 1, along, {}, 1});
      return try_across({dim, lanes, 1, along, {}, 1});
    }
    for (std::uint32_t vectors = 1; vectors <= most_vectors; ++vectors) {
      const std::uint32_t filled = masks_tails_ && extents_.exact[dim] && !along ? vectors - 1 : vectors;
      if (vectors > 1 && static_cast<std::int64_t>(filled * lanes) >= extents_.sizes[dim] + (filled == vectors)) break;
      try_rows({dim, lanes, vectors, along, {}, 1});
    }
  }

  // As many rows as a vector has lanes, so that each register is stored whole; and several vectors side by side, since what
  // they read of a row is near.
  void try_across(RegisterTile tile) {
    constexpr std::int64_t fewest = 4;
    const bool few = work_.stores_every_few(tile.dim);
    if (!few) tile.lanes = std::min(tile.lanes, most_rows);
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (d == tile.dim || is_constrained(op_, d) || !work_.stores_across(tile.dim, d)) continue;
      if (extents_.sizes[d] < (few ? 2 : fewest)) continue;
      tile.rows = d;
      tile.row_count = static_cast<std::uint32_t>(std::min<std::int64_t>(extents_.sizes[d], tile.lanes));
      for (tile.vectors = 1; tile.vectors <= most_vectors; tile.vectors *= 2)
        if (tile.vectors == 1 || static_cast<std::int64_t>(tile.vectors * tile.lanes) <= extents_.sizes[tile.dim])
          consider(tile);
    }
  }

  void try_rows(RegisterTile tile) {
    consider(tile);
    if (op_.map()) return;
    auto has_rows = [&](std::size_t d) {
      return !is_constrained(op_, d) || (!tile.along_reduction && ragged_along(op_, d));
    };
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (d != tile.dim && op_.dims[d].role == DimRole::parallel && extents_.sizes[d] > 1 && has_rows(d))
        for (tile.rows = d, tile.row_count = 2; tile.row_count <= most_rows && tile.row_count <= extents_.sizes[d];
             ++tile.row_count)
          consider(tile);
  }

  // The parts of a dim as in lower_tiles.cpp: (how many, of which size).
  using Parts = std::vector<std::pair<double, std::uint32_t>>;
  Parts row_parts(const RegisterTile& tile) const {
    if (!tile.rows) return {{1, 1}};
    std::int64_t whole = extents_.sizes[*tile.rows] / tile.row_count,
                 rest = extents_.sizes[*tile.rows] % tile.row_count;
    Parts parts{{static_cast<double>(whole), tile.row_count}};
    if (rest > 0) parts.push_back({1, static_cast<std::uint32_t>(rest)});
    return parts;
  }
  Parts lane_parts(const RegisterTile& tile) const {
    std::int64_t step = tile.lanes * tile.vectors, size = extents_.sizes[tile.dim];
    Parts parts{{static_cast<double>(size / step), tile.vectors}};
    const std::int64_t vectors = (size % step + tile.lanes - 1) / tile.lanes;
    if (vectors > 0 && masks_tails_ && extents_.exact[tile.dim])
      parts.push_back({1, static_cast<std::uint32_t>(vectors)});
    else if (vectors > 0) parts.push_back({static_cast<double>(vectors), 1});
    return parts;
  }

  // Of a vector of results, on average.
  double stores(const RegisterTile& tile) const {
    if (!tile.rows) return work_.stores(tile.dim, tile.lanes);
    double all = 0;
    for (auto [steps, rows] : row_parts(tile))
      all += steps * rows * work_.stores(tile.dim, tile.lanes, tile.rows, rows) / size(*tile.rows);
    return all;
  }

  void consider(const RegisterTile& tile) {
    PointWork::Tile whole{tile.dim, tile.rows, tile.lanes, tile.row_count, tile.vectors};
    constexpr double code = 96;  // independent instructions: enough to hide latencies
    bool several = tile.row_count * tile.vectors > 1;
    if (several && (work_.registers(whole) > registers_ || work_.instructions(whole) > code)) return;
    double cost = 0;
    const auto ragged = tile.rows ? ragged_along(op_, *tile.rows) : std::nullopt;
    for (auto [row_steps, rows] : row_parts(tile))
      for (auto [lane_steps, vectors] : lane_parts(tile)) {
        cost += row_steps * lane_steps * time({tile.dim, tile.rows, tile.lanes, rows, vectors});
        if (ragged)  // what each row has beyond the range of all
          cost += row_steps * lane_steps * rows * (rows - 1) / 2 / size(*ragged) *
                  time({tile.dim, {}, tile.lanes, 1, vectors});
      }
    cost *= others(tile.dim, tile.rows);
    if (tile.along_reduction) cost += results() * (2 * std::log2(tile.lanes) + tile.vectors) * work_.combination();
    else cost += passes(tile) * results() / tile.lanes * stores(tile) / 2;
    if (cost > best_cost_) return;  // the last of equal ones: later dims of an index space are nearer in memory
    best_cost_ = cost;
    best_ = tile;
  }

  const Operator& op_;
  const Extents& extents_;
  PointWork work_;
  std::uint32_t registers_;  // with some left for temporaries
  bool masks_tails_ = false;
  std::optional<RegisterTile> best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
};

// The combination of a result must not depend on how parallel dims are split: for that decision they have the program's
// extents. Blocks of a reduction are as in the plan.
Extents whole_extents(const Operator& op, Extents extents) {
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::parallel) extents.sizes[d] = is_block_dim(op, d) ? 1 : op.dims[d].range.size();
  return extents;
}

}  // namespace

bool is_constrained(const Operator& op, std::size_t dim) {
  return std::any_of(op.constraints.begin(), op.constraints.end(),
                     [&](const Constraint& c) { return c.expr.coefficients[dim] != 0; });
}

std::optional<std::size_t> ragged_along(const Operator& op, std::size_t dim) {
  std::optional<std::size_t> along;
  for (const Constraint& c : op.constraints) {
    if (c.expr.coefficients[dim] == 0) continue;
    if (c.comparison == Comparison::equal_zero) return {};
    bool is_related = false;
    for (std::size_t d = 0; d < op.dims.size(); ++d) {
      if (d == dim || c.expr.coefficients[d] == 0) continue;
      if (op.dims[d].role != DimRole::reduction || (along && *along != d)) return {};
      along = d;
      is_related = true;
    }
    // The loops of register tiles have no bound from the rows alone.
    if (!is_related && c.expr.bounds(op.box()).lo < 0) return {};
  }
  return along;
}

Extents extents_of(const Operator& op) {
  Box first = op.box();
  for (const Blocking& b : op.blockings)
    if (!runs_whole(op, b))
      first.dims[b.block_dim].hi = std::min(first.dims[b.block_dim].hi, first.dims[b.block_dim].lo + 1);
  first = box_to_run(op, narrowed(op, first));
  Extents extents;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    extents.sizes.push_back(first.dims[d].size());
    extents.exact.push_back(all_blocks_are_equal(op, d));
  }
  return extents;
}

namespace {

double points_of_reduction(const Operator& op, const Extents& extents) {
  double points = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role == DimRole::reduction) points *= static_cast<double>(extents.sizes[d]);
  return points;
}

// Bytes between the results of two rows.
double row_stride_of(const Operator& op, const RegisterTile& tile) {
  const Access& write = op.writes[0];
  double row_stride = 0, stride = static_cast<double>(size_of(op.results[write.tensor].element));
  for (std::size_t axis = write.projection.start.rows.size(); axis-- > 0;) {
    row_stride += stride * static_cast<double>(std::abs(write.projection.start.rows[axis].coefficients[*tile.rows]));
    stride *= static_cast<double>(op.results[write.tensor].shape[axis]);
  }
  return row_stride;
}

// Whether everything that the lanes read moves on with the rows, as the windows of a stencil do.
bool slides_along_rows(const Operator& op, const RegisterTile& tile) {
  return std::ranges::all_of(op.reads,
                             [&](const Access& read) { return !uses(read, tile.dim) || uses(read, *tile.rows); });
}

// A small window that moves along contiguous lanes and along rows. Its cells are not shared among rows in registers.
bool is_stencil(const Operator& op, const RegisterTile& tile, const Extents& extents) {
  constexpr double small = 64;
  return op.reduce() && tile.rows && !tile.along_reduction && op.writes.size() == 1 &&
         is_contiguous_along(op.writes[0].projection.start.rows, tile.dim) &&
         points_of_reduction(op, extents) <= small && slides_along_rows(op, tile);
}

// Enough rows that their sums overlap; the lines of more would crowd a set of the first cache. Tiles at the edges of a tensor look at
// each lane that they read, so they are a small part of a row.
RegisterTile tile_of_stencil(const Operator& op, RegisterTile tile, const Extents& extents) {
  constexpr std::int64_t most = 4, few_vectors = 2, tiles_of_row = 16;
  const std::int64_t sums = std::int64_t{tile.row_count} * tile.vectors;  // in registers
  const std::int64_t vectors = std::max(few_vectors, extents.sizes[tile.dim] / (tiles_of_row * tile.lanes));
  auto has_edge = [&](const Access& read) { return read.fill && uses(read, tile.dim) && may_be_outside(op, read); };
  if (vectors < tile.vectors && std::ranges::any_of(op.reads, has_edge)) {
    tile.vectors = static_cast<std::uint32_t>(vectors);
    tile.row_count = static_cast<std::uint32_t>(std::min(sums / vectors, extents.sizes[*tile.rows]));
  }
  tile.row_count = std::min(tile.row_count, static_cast<std::uint32_t>(most));
  return tile;
}

// Of what the lanes read, which each group of rows reads again.
double bytes_read_again(const Operator& op, const RegisterTile& tile, const Extents& extents) {
  double again = 0;
  for (const Access& read : op.reads) {
    if (!uses(read, tile.dim)) continue;
    double bytes = static_cast<double>(size_of(op.operands[read.tensor].element));
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (uses(read, d)) bytes *= static_cast<double>(d == *tile.rows ? tile.row_count : extents.sizes[d]);
    again += bytes;
  }
  return again;
}

}  // namespace

std::optional<RegisterTile> choose_tile(const Program& program, const Operator& op, const Extents& extents,
                                        bool reassociate, const Machine& machine, const std::vector<bool>& prepared) {
  if (op.dims.empty()) return {};
  if (std::any_of(extents.sizes.begin(), extents.sizes.end(), [](std::int64_t size) { return size == 0; })) return {};
  if (op.reduce() && reassociate) {
    auto tile = Chooser(program, op, whole_extents(op, extents), reference_machine).run(true);
    if (tile && tile->along_reduction) {
      RegisterTile row = Chooser(program, op, extents, reference_machine).one_row(*tile);  // there may be few rows
      return Chooser(program, op, extents, machine).with_rows_for(row);
    }
  }
  auto tile = Chooser(program, op, extents, machine, prepared).run(false, true);
  if (tile && is_stencil(op, *tile, extents)) *tile = tile_of_stencil(op, *tile, extents);
  return tile;
}

double cost_of_tile(const Program& program, const Operator& op, const Extents& extents, const Machine& machine,
                    const std::vector<bool>& prepared) {
  Chooser chooser(program, op, extents, machine, prepared);
  chooser.run(false, true);
  return chooser.cost();
}

bool rows_come_first(const Operator& op, const RegisterTile& tile, const Extents& extents, const Machine& machine) {
  constexpr std::int64_t many_rows = 64;  // the first level of the TLB holds that many pages
  constexpr double short_reduction = 16;
  if (!op.reduce() || !tile.rows || tile.along_reduction || op.writes.size() != 1) return false;
  if (is_stencil(op, tile, extents)) return extents.sizes[*tile.rows] > tile.row_count;
  // Results: lanes are contiguous, and rows a page or more apart.
  if (!is_contiguous_along(op.writes[0].projection.start.rows, tile.dim)) return false;
  if (points_of_reduction(op, extents) > short_reduction || extents.sizes[*tile.rows] < many_rows) return false;
  if (row_stride_of(op, tile) < static_cast<double>(machine.page_bytes)) return false;
  return bytes_read_again(op, tile, extents) <= static_cast<double>(machine.l2_bytes) / 2;
}

bool rows_are_outside(const Operator& op, const RegisterTile& tile, const std::vector<std::size_t>& inside) {
  auto is_outside = [&](const Access& access, const TensorType& type) {
    const std::int64_t of_rows = distance_along(type, access, *tile.rows);
    return std::ranges::all_of(inside, [&](std::size_t d) { return distance_along(type, access, d) < of_rows; });
  };
  for (const Access& read : op.reads)
    if (uses(read, tile.dim) && !is_outside(read, op.operands[read.tensor])) return false;
  return std::ranges::all_of(op.writes,
                             [&](const Access& write) { return is_outside(write, op.results[write.tensor]); });
}

std::int64_t lanes_in_first_cache(const Operator& op, const RegisterTile& tile, const Extents& extents,
                                  const Machine& machine) {
  constexpr std::int64_t fewest_tiles = 4;  // a part of a row of results is then long enough for hardware prefetchers
  if (is_stencil(op, tile, extents)) return 0;
  const std::int64_t size = extents.sizes[tile.dim], step = static_cast<std::int64_t>(tile.lanes) * tile.vectors;
  const double each = bytes_read_again(op, tile, extents) / static_cast<double>(size);
  if (each <= 0) return 0;
  const auto tiles = static_cast<std::int64_t>(static_cast<double>(machine.l1_bytes) / 2 / each) / step;
  return tiles < fewest_tiles || 2 * tiles * step > size ? 0 : tiles * step;
}

bool uses(const Access& access, std::size_t dim) {
  return std::any_of(access.projection.start.rows.begin(), access.projection.start.rows.end(),
                     [&](const AffineExpr& row) { return row.coefficients[dim] != 0; });
}

}  // namespace tap::backend
