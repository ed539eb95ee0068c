#include "backend/tiles/window_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backend/tiles/cache_sets.h"
#include "ir/graph.h"
#include "support/checked.h"
#include "support/element_type.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr double worth = 0.9;            // of the loads of separate rows
constexpr std::int64_t spare = 4;        // registers for sums and constants
constexpr std::size_t most_cells = 256;  // of all rows, unrolled

// A vector that rows load.
struct Loaded {
  std::uint32_t tensor = 0;
  std::vector<AffineExpr> start;  // at the first row
  std::int64_t reads = 0;         // of all rows
};

bool moves_along(const AffineExpr& coordinate, std::size_t dim) { return coordinate.coefficients[dim] != 0; }

// Each vector once. Reads at data-dependent positions have nothing in common.
std::vector<Loaded> loads_of(const Operator& op, std::size_t dim, std::int64_t rows) {
  std::vector<Loaded> all;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const Access& read : op.reads) {
      Loaded one{read.tensor, read.projection.start.rows, 1};
      for (AffineExpr& e : one.start) e.offset = checked::add(e.offset, checked::mul(e.coefficients[dim], r));
      auto known =
          std::ranges::find_if(all, [&](const Loaded& l) { return l.tensor == one.tensor && l.start == one.start; });
      if (known != all.end() && read.coordinates.empty()) ++known->reads;
      else all.push_back(std::move(one));
    }
  return all;
}

// How many rows of the tensor are loaded.
std::int64_t rows_of(std::uint32_t tensor, const std::vector<Loaded>& loads, std::size_t dim) {
  std::set<std::vector<std::int64_t>> rows;
  for (const Loaded& one : loads) {
    std::vector<std::int64_t> row;
    for (const AffineExpr& e : one.start) row.push_back(moves_along(e, dim) ? e.offset : 0);
    if (one.tensor == tensor) rows.insert(std::move(row));
  }
  return static_cast<std::int64_t>(rows.size());
}

// Lines of one set of the first cache that all rows use at a time.
std::int64_t lines_used(const Operator& op, std::size_t dim, std::int64_t rows, const std::vector<Loaded>& loads,
                        const std::vector<TensorType>& operands, const std::vector<TensorType>& results,
                        const Machine& machine) {
  std::int64_t lines = 0;
  for (const Access& write : op.writes)
    lines += lines_in_a_set(rows, distance_along(results[write.tensor], write, dim), machine);
  for (std::uint32_t t = 0; t < operands.size(); ++t) {
    std::int64_t distance = 0;
    for (const Access& read : op.reads)
      if (read.tensor == t) distance = std::max(distance, distance_along(operands[t], read, dim));
    lines += lines_in_a_set(rows_of(t, loads, dim), distance, machine);
  }
  return lines;
}

std::int64_t registers_held(const std::vector<Loaded>& loads, const RegisterTile& tile, std::size_t dim,
                            const std::vector<TensorType>& operands, const Machine& machine) {
  std::int64_t held = 0;
  for (const Loaded& one : loads) {
    const auto bytes = static_cast<std::int64_t>(tile.lanes * size_of(compute_type(operands[one.tensor].element)));
    if (one.reads > 1 && std::ranges::any_of(one.start, [dim](const AffineExpr& e) { return moves_along(e, dim); }))
      held += std::max<std::int64_t>(bytes / machine.vector_bytes, 1);
  }
  return held;
}

}  // namespace

std::optional<std::uint32_t> rows_that_share_loads(const Operator& op, const RegisterTile& tile, std::size_t dim,
                                                   const std::vector<TensorType>& operands,
                                                   const std::vector<TensorType>& results, const Machine& machine) {
  try {
    const auto alone = static_cast<double>(loads_of(op, dim, 1).size());
    for (std::uint32_t rows : {4u, 2u}) {
      if (op.exprs.size() * rows > most_cells) continue;
      const std::vector<Loaded> loads = loads_of(op, dim, rows);
      const std::int64_t held = registers_held(loads, tile, dim, operands, machine);
      if (held > 0 && held <= machine.vector_registers - spare &&
          static_cast<double>(loads.size()) <= worth * rows * alone &&
          lines_used(op, dim, rows, loads, operands, results, machine) <= ways_of_a_set(machine))
        return rows;
    }
  } catch (const Overflow&) {  // rows this far apart are not in memory
  }
  return {};
}

}  // namespace tap::backend
