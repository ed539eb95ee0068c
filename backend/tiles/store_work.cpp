// What it costs to store a vector of results: whole, cell by cell, or with other rows, transposed in registers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/loops/lanes_apart.h"
#include "backend/tiles/cache_sets.h"
#include "backend/tiles/point_work.h"

namespace tap::backend {

using namespace ir;

double PointWork::stores(std::size_t dim, std::uint32_t lanes, std::optional<std::size_t> rows,
                         std::uint32_t row_count) const {
  const Tile tile{dim, rows, lanes, row_count, 1};
  double all = 0;
  for (const Access& write : op_.writes) {
    double each = registers_of(lanes);
    if (kind(write.projection.start.rows, dim) == Along::strided)
      each = lanes * (2 + far_lines(write, op_.results[write.tensor], tile));
    if (rows) each = std::min(each, transposed_store(write, tile));
    if (rows && stores_across(dim, *rows)) each = (std::log2(lanes) + 1) * registers_of(lanes);
    if (const auto few = store_every_few(write, tile)) each = std::min(each, *few);
    all += each;
  }
  return all;
}

bool PointWork::stores_every_few(std::size_t dim) const {
  const Access& write = op_.writes[0];
  const std::int64_t step = cells_apart(op_.results[write.tensor], write, dim);
  return step >= 2 && step <= most_steps_between_lanes;
}

bool PointWork::is_far_along(const Access& read, std::size_t dim) const {
  return kind(read.projection.start.rows, dim) == Along::strided &&
         cells_apart(op_.operands[read.tensor], read, dim) > most_steps_between_lanes;
}

// Lanes that are a few cells apart (emit_every.h): shuffles place the cells of all rows; of other cells in between, masks leave them out.
std::optional<double> PointWork::store_every_few(const Access& write, const Tile& tile) const {
  const TensorType& type = op_.results[write.tensor];
  const std::int64_t step = cells_apart(type, write, tile.dim);
  if (step < 2 || step > std::min<std::int64_t>(most_steps_between_lanes, tile.lanes)) return {};
  // Where an operand is gathered, or packed, other lanes are usually better than narrow results.
  if (any_read([&](CellId, const Access& read) { return is_far_along(read, tile.dim); })) return {};
  const bool across = tile.rows && kind(write.projection.start.rows, *tile.rows) == Along::dense;
  const double rows = across ? std::min<double>(tile.row_count, static_cast<double>(step)) : 1;
  const double vectors = static_cast<double>(step) / rows, shuffles = std::max(rows - 1, 1.0);
  return vectors * (1 + shuffles) * registers_of(tile.lanes) + tile.lanes * far_lines(write, type, tile);
}

// A reduction's rows that are contiguous in the result, where its lanes are strided: as many vectors as each has lanes are transposed
// at a time, and then a store has a cell of each row. Where the lines of all lanes share few sets of the first cache, each comes from
// the second and evicts another: 16 × 3 × 32 × 32 images by 64 filters took 2.5 times as long as with lanes along the rows.
double PointWork::transposed_store(const Access& write, const Tile& tile) const {
  constexpr std::uint32_t fewest = 4;
  constexpr double evicted = 4.0 * reference_machine.line_cycles;
  const auto& at = write.projection.start.rows;
  const bool turned = monoid_ && op_.writes.size() == 1 && tile.row_count >= fewest && tile.lanes >= fewest &&
                      kind(at, tile.dim) == Along::strided && kind(at, *tile.rows) == Along::dense;
  if (!turned) return std::numeric_limits<double>::infinity();
  const TensorType& type = op_.results[write.tensor];
  const double lanes = tile.lanes, rows = tile.row_count, padded = std::ceil(rows / lanes) * lanes;
  const bool crowded = lines_in_a_set(tile.lanes, distance_along(type, write, tile.dim), reference_machine) >
                       ways_of_a_set(reference_machine);
  // Tiles over packed operands fetch these lines before (lower_prefetches.cpp).
  const bool fetched = any_read(
      [&](CellId id, const Access& access) { return is_window(id, access, tile) || is_prepared(id, access, tile); });
  const double cell = static_cast<double>(size_of(type.element)), line = reference_machine.line_bytes;
  const double waits = fetched ? 0 : (1 + (rows - 1) * cell / line) * far_line(write, type);
  return padded / rows * (2 * std::log2(lanes) * registers_of(tile.lanes) + 2 + (crowded ? evicted : 0)) +
         lanes * waits / rows + lanes * far_lines(write, type, tile);
}

}  // namespace tap::backend
