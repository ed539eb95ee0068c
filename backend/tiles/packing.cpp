#include "backend/tiles/packing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backend/tiles/cache_sets.h"
#include "backend/tiles/patterns.h"
#include "ir/tensor_bytes.h"
#include "support/checked.h"

namespace tap::backend {

using namespace ir;

namespace {

class PackingChooser {
 public:
  PackingChooser(const Operator& op, const RegisterTile& tile, const Extents& extents, bool accumulates_into_result,
                 const Machine& machine, const std::vector<bool>& prepared)
      : op_(op),
        tile_(tile),
        extents_(extents),
        accumulates_into_result_(accumulates_into_result),
        machine_(machine),
        prepared_(prepared) {}

  std::optional<Packing> run() {
    if (!tile_.rows || !op_.reduce()) return {};
    try {
      choose_blocks();
      choose_copies();
    } catch (const Overflow&) {  // such a number of points is never processed
      return {};
    }
    if (packing_.lane_reads.empty() && packing_.row_reads.empty() && packing_.windows.empty()) return {};
    return packing_;
  }

 private:
  void choose_copies() {
    for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands)) {
      if (op_.exprs[id].op != CellOp::read) continue;
      std::uint32_t read = op_.exprs[id].attribute;
      bool lanes = depends_on(op_, {id}, tile_.dim), rows = depends_on(op_, {id}, *tile_.rows);
      if (lanes == rows) continue;
      const Access& access = op_.reads[read];
      const bool window = rows && can_be_window(op_, access, extents_);
      if (!window && !can_be_packed(op_, access, extents_)) continue;
      auto& list = window ? packing_.windows : lanes ? packing_.lane_reads : packing_.row_reads;
      if (std::count(list.begin(), list.end(), read) > 0) continue;
      if (window ? fits(access) : pays(access, lanes)) list.push_back(read);
    }
    choose_packed_dim();
    let_first_rows_copy();
    widen_lane_block();
  }

  // If a single operand depends on the lanes. A separate copy is used by so few rows that it takes much of the time.
  void let_first_rows_copy() {
    std::vector<std::uint32_t> along_lanes;
    for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands))
      if (op_.exprs[id].op == CellOp::read && depends_on(op_, {id}, tile_.dim))
        along_lanes.push_back(op_.exprs[id].attribute);
    if (along_lanes.size() != 1 || packing_.packed_dim || !packing_.windows.empty()) return;
    if (!first_rows_may_copy(op_.reads[along_lanes[0]])) return;
    packing_.lane_reads = along_lanes;
    packing_.by_first_rows = true;
  }
  // Where only a block of the results is kept, which every block of the reduction reads and writes. Rows are packed again for each.
  void widen_lane_block() {
    auto prepared = [&](std::uint32_t read) { return is_prepared(op_.reads[read]); };
    const bool keeps_block = !packing_.by_first_rows && !std::ranges::all_of(packing_.lane_reads, prepared);
    if (keeps_block || !packing_.windows.empty() || size(*tile_.rows) > packing_.row_block) return;
    const std::int64_t bytes = checked::mul(size(*tile_.rows), full_vector_bytes * tile_.vectors);
    packing_.lane_block = std::max<std::int64_t>(machine_.l3_bytes / 4 / bytes, 1) * lane_step();
  }
  bool first_rows_may_copy(const Access& access) const {
    const std::int64_t rows = size(*tile_.rows);
    if (is_prepared(access) || !extents_.exact[*tile_.rows] || rows <= tile_.row_count || rows > packing_.row_block)
      return false;
    if (uses(access, *tile_.rows) || !can_be_packed(op_, access, extents_)) return false;
    if (!is_contiguous_along(access.projection.start.rows, tile_.dim)) return false;
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (!uses(access, d) && (op_.dims[d].role == DimRole::reduction || (d != *tile_.rows && size(d) > 1)))
        return false;
    const auto [all, again] = bytes_of(access);
    if (all <= static_cast<double>(machine_.l2_bytes)) return false;
    return again > static_cast<double>(machine_.l2_bytes) / 2 || crowds_along_reduction(access);
  }

  // Otherwise every cell of a panel would be in a different cache line, which is loaded again for each point of the dim
  // along which the line runs; or cache lines of the result that belong to two points of a dim would be written in two
  // parts, far apart in time.
  void choose_packed_dim() {
    if (packing_.lane_reads.size() != 1) return;
    const Access& access = op_.reads[packing_.lane_reads[0]];
    auto along = transposed_along(op_, access, tile_.dim, *tile_.rows, extents_);
    if (along && op_.dims[*along].role == DimRole::parallel) {
      packing_.packed_dim = along;
      return;
    }
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (shares_lines_of_results(d) && uses(access, d) && fits_at_once(op_, access, d, tile_.dim, extents_))
        packing_.packed_dim = d;
  }
  // The result of the next point of the dim starts where this one's lanes end.
  bool shares_lines_of_results(std::size_t d) const {
    return d != tile_.dim && d != *tile_.rows && size(tile_.dim) % line_cells != 0 &&
           std::ranges::all_of(op_.writes, [&](const Access& write) {
             const auto& rows = write.projection.start.rows;
             return rows.size() > 1 && is_contiguous_along(rows, tile_.dim) &&
                    rows[rows.size() - 2].coefficients[d] == 1;
           });
  }
  std::int64_t size(std::size_t d) const { return extents_.sizes[d]; }
  bool is_prepared(const Access& access) const { return access.tensor < prepared_.size() && prepared_[access.tensor]; }
  // Of all that is read, and of what is read between two uses: other parallel dims that it follows are outside.
  std::pair<double, double> bytes_of(const Access& access) const {
    double bytes = static_cast<double>(size_of(op_.operands[access.tensor].element)), again = bytes;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (!uses(access, d)) continue;
      bytes *= static_cast<double>(size(d));
      if (d == tile_.dim || op_.dims[d].role == DimRole::reduction) again *= static_cast<double>(size(d));
    }
    return {bytes, again};
  }
  // A copy pays if it is used several times and its source is in far memory or in the wrong order. Rows that read along
  // the reduction use up each cache line before the next, if it stays cached that long.
  bool pays(const Access& access, bool lanes) const {
    double uses_of_it = lanes ? uses_of_packed(op_, access, tile_, extents_)
                              : static_cast<double>(size(tile_.dim)) / static_cast<double>(lane_step());
    const auto [bytes, again] = bytes_of(access);
    const auto& rows = access.projection.start.rows;
    bool dense = !lanes || (!rows.empty() && rows.back().coefficients[tile_.dim] == 1);
    for (std::size_t d = 0; d < op_.dims.size() && !lanes && !rows.empty(); ++d)
      if (op_.dims[d].role == DimRole::reduction && rows.back().coefficients[d] == 1 &&
          (size(d) >= line_cells || rows_are_adjacent(access, d)) && !crowds(access))
        return false;
    const double enough = lanes && is_prepared(access) ? 0 : 4;
    if (!lanes && crowds(access)) return uses_of_it >= enough;
    if (!dense) return uses_of_it * tile_.row_count >= enough;
    const double near = static_cast<double>(machine_.l2_bytes) / 2;
    return uses_of_it >= enough && bytes > near && (again > near || crowds_along_reduction(access));
  }

  // Whether the next row starts where this one ends, so that several rows share a cache line.
  bool rows_are_adjacent(const Access& access, std::size_t along) const {
    const auto& rows = access.projection.start.rows;
    return rows.size() > 1 && rows[rows.size() - 2].coefficients[*tile_.rows] == 1 &&
           op_.operands[access.tensor].shape.back() == size(along);
  }

  // Whether the cache lines that the rows of a register tile read at a time are a power of two apart, so that they
  // share few sets of the first cache and evict each other. Its sets are the lines of a page.
  bool crowds(const Access& access) const {
    return lines_in_a_set(tile_.row_count, distance_along(op_, access, *tile_.rows), machine_) >
           ways_of_a_set(machine_) / 2;
  }

  // The same for the lines of a panel's lanes at all points of a reduction: they take more than half of their sets.
  bool crowds_along_reduction(const Access& access) const {
    const std::int64_t line = machine_.line_bytes, lines = machine_.l1_bytes / line;
    const std::int64_t of_step = std::max<std::int64_t>(tile_.vectors * full_vector_bytes / line, 1);
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (op_.dims[d].role != DimRole::reduction || !uses(access, d)) continue;
      const std::int64_t distance = distance_along(op_, access, d);
      const std::int64_t shared = distance % line == 0 ? std::gcd(machine_.l1_sets, distance / line) : 1;
      if (checked::mul(size(d), std::max(of_step, shared)) > lines / 2) return true;
    }
    return false;
  }

  // The bounding box of the windows of a block of rows, for a block of the reduction.
  bool fits(const Access& access) const {
    std::int64_t bytes = static_cast<std::int64_t>(size_of(op_.operands[access.tensor].element));
    for (const AffineExpr& row : access.projection.start.rows) {
      std::int64_t extent = 1;
      for (std::size_t d = 0; d < op_.dims.size(); ++d) {
        std::int64_t points = op_.dims[d].role == DimRole::reduction ? extents_.most(op_, d) : 1;
        if (packing_.chunked == d) points = packing_.chunk;
        if (d == *tile_.rows) points = std::min(packing_.row_block, extents_.most(op_, d));
        extent =
            checked::add(extent, checked::mul(std::abs(row.coefficients[d]), std::max<std::int64_t>(points, 1) - 1));
      }
      bytes = checked::mul(bytes, extent);
    }
    return bytes <= machine_.l2_bytes / 4;
  }

  // Points of the reduction per block: the rows' panel of a register tile stays in the first cache, and the lanes'
  // panel, which all rows use, takes a part of the second.
  std::int64_t most_depth() const {
    const std::int64_t rows = tile_.row_count * (full_vector_bytes / tile_.lanes),
                       lanes = full_vector_bytes * tile_.vectors;
    return std::clamp<std::int64_t>(std::min(machine_.l1_bytes / rows, machine_.l2_bytes / 4 / lanes), 256,
                                    most_packed_steps);
  }

  void choose_blocks() {
    if (choose_blocks_of_windows()) return;
    const std::int64_t points = choose_chunk(most_depth());
    packing_.row_block = equal_blocks(*tile_.rows, machine_.l2_bytes / 2, points, tile_.row_count);
    // One block in place of two: what lanes read comes from far memory once.
    if (size(*tile_.rows) > packing_.row_block)
      packing_.row_block = equal_blocks(*tile_.rows, machine_.l2_bytes / 4, points, tile_.row_count);
    // If all rows are one block, a block of lanes is read once: it stays in the second cache until then.
    const bool once = size(*tile_.rows) <= packing_.row_block;
    packing_.lane_block =
        equal_blocks(tile_.dim, once ? machine_.l2_bytes / 2 : machine_.l3_bytes / 2, points, lane_step());
  }

  // A window of all rows is used by all lanes, whose panels stream by: only the window has to stay near. Every further block of the
  // reduction would load and store the results again, and every further block of lanes would copy the window again.
  bool choose_blocks_of_windows() {
    const std::vector<const Access*> windows = windows_of_rows();
    if (windows.empty()) return false;
    packing_.row_block = size(*tile_.rows);
    for (std::int64_t depth = machine_.l2_bytes / 2 / (full_vector_bytes * tile_.vectors); depth > most_depth();
         depth /= 2) {
      const std::int64_t points = choose_chunk(depth);
      packing_.lane_block = equal_blocks(tile_.dim, machine_.l3_bytes / 4, points, lane_step());
      if (std::ranges::all_of(windows, [&](const Access* window) { return fits(*window); })) return true;
    }
    packing_ = {};
    return false;
  }
  // All that depends on the rows, if it is copied as windows.
  std::vector<const Access*> windows_of_rows() const {
    std::vector<const Access*> windows;
    for (CellId id : reachable_from(op_.exprs, op_.reduce()->operands)) {
      if (op_.exprs[id].op != CellOp::read || !depends_on(op_, {id}, *tile_.rows)) continue;
      windows.push_back(&op_.reads[op_.exprs[id].attribute]);
      if (depends_on(op_, {id}, tile_.dim) || !can_be_window(op_, *windows.back(), extents_)) return {};
    }
    return windows;
  }

  // Blocks of the reduction with about that many points, if it is too long: the points of one.
  std::int64_t choose_chunk(std::int64_t depth) {
    std::int64_t inner = 1, all = 1;
    std::optional<std::size_t> first;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      if (op_.dims[d].role != DimRole::reduction) continue;
      if (first) inner = checked::mul(inner, size(d));
      else first = d;
      all = checked::mul(all, size(d));
    }
    bool free = first && accumulates_into_result_;
    for (const Constraint& c : op_.constraints) free = free && c.expr.coefficients[*first] == 0;
    for (const Blocking& b : op_.blockings) free = free && b.dim != *first && b.block_dim != *first;
    packing_.chunked.reset();
    if (!free || all <= depth + depth / 2) return all;
    std::int64_t blocks = (all + depth - 1) / depth;
    packing_.chunked = first;
    packing_.chunk = std::max<std::int64_t>((size(*first) + blocks - 1) / blocks, 1);
    // Whole vectors of a long block are packed, so that only the last one has a rest, if any.
    if (packing_.chunk > 4 * line_cells) packing_.chunk = (packing_.chunk + line_cells - 1) / line_cells * line_cells;
    if (has_lines_along(*first)) {
      const std::int64_t whole = std::min(line_cells, size(*first));
      if (checked::mul(whole * inner, full_vector_bytes * tile_.vectors) <= machine_.l2_bytes)
        packing_.chunk = std::max(packing_.chunk, whole);
    }
    return packing_.chunk * inner;
  }

  // As few equal blocks as fit, of panels of `step`.
  std::int64_t equal_blocks(std::size_t d, std::int64_t memory, std::int64_t points, std::int64_t step) const {
    const std::int64_t bytes = checked::mul(full_vector_bytes / tile_.lanes, std::max<std::int64_t>(points, 1));
    const std::int64_t panels = std::max<std::int64_t>((size(d) + step - 1) / step, 1);
    const std::int64_t most = std::max<std::int64_t>(memory / bytes / step, 1), blocks = (panels + most - 1) / most;
    return (panels + blocks - 1) / blocks * step;
  }
  std::int64_t lane_step() const { return static_cast<std::int64_t>(tile_.lanes) * tile_.vectors; }

  // Whether lane operands are packed from cache lines that run along the dim: its blocks must contain whole lines,
  // since otherwise every block with a part of a line loads it again.
  bool has_lines_along(std::size_t d) const {
    return std::ranges::any_of(op_.reads, [&](const Access& access) {
      return is_contiguous_along(access.projection.start.rows, d) && uses(access, tile_.dim) &&
             !uses(access, *tile_.rows) && can_be_packed(op_, access, extents_);
    });
  }

  const Operator& op_;
  const RegisterTile& tile_;
  const Extents& extents_;
  const bool accumulates_into_result_;
  const Machine& machine_;
  const std::int64_t line_cells = machine_.line_bytes / 4;  // for 4-byte cells, the most common size
  const std::vector<bool> prepared_;
  Packing packing_;
};

}  // namespace

std::optional<Packing> choose_packing(const Operator& op, const RegisterTile& tile, const Extents& extents,
                                      bool accumulates_into_result, const Machine& machine,
                                      const std::vector<bool>& prepared) {
  return PackingChooser(op, tile, extents, accumulates_into_result, machine, prepared).run();
}

RegisterTile with_row_of_prepared(const Operator& op, RegisterTile tile, const Extents& extents, const Machine& machine,
                                  const std::vector<bool>& prepared) {
  constexpr std::int64_t most_panels = 2;
  if (!op.reduce() || tile.rows || tile.along_reduction) return tile;
  const std::int64_t vectors = (extents.sizes[tile.dim] + tile.lanes - 1) / tile.lanes,
                     panels = (vectors + tile.vectors - 1) / tile.vectors;
  if (panels > most_panels) return tile;
  for (const Access& read : op.reads) {
    if (read.tensor >= prepared.size() || !prepared[read.tensor]) continue;
    const double bytes = total_bytes(op.operands[read.tensor]);
    const bool pays = bytes > static_cast<double>(machine.l2_bytes) / 2 &&
                      bytes <= static_cast<double>(machine.l3_bytes);
    const bool is_panel = pays && uses(read, tile.dim) && can_be_packed(op, read, extents);
    for (std::size_t d = 0; d < op.dims.size() && is_panel; ++d)
      if (op.dims[d].role == DimRole::parallel && d != tile.dim && extents.exact[d] && extents.sizes[d] == 1 &&
          !uses(read, d) && !is_constrained(op, d)) {
        tile.rows = d;
        tile.vectors = static_cast<std::uint32_t>((vectors + panels - 1) / panels);
        return tile;
      }
  }
  return tile;
}

}  // namespace tap::backend
