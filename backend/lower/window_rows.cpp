#include "backend/lower/window_rows.h"

#include <algorithm>
#include <utility>

#include "backend/lower/cache_sets.h"
#include "ir/graph.h"
#include "support/element_type.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr double worth = 0.9;            // of the loads of separate rows
constexpr std::int64_t spare = 4;        // registers for sums and constants
constexpr std::size_t most_cells = 256;  // of all rows, unrolled

// A vector that some rows load.
struct Loaded {
  std::uint32_t tensor = 0;
  std::vector<AffineExpr> start;  // at the first row
  std::int64_t rows = 0;          // how many rows read it
};

// Reads at data-dependent positions have nothing in common.
std::vector<Loaded> loads_of(const Operator& op, std::size_t dim, std::int64_t rows) {
  std::vector<Loaded> all;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const Access& read : op.reads) {
      Loaded one{read.tensor, read.projection.start.rows, 1};
      for (AffineExpr& e : one.start) e.offset += e.coefficients[dim] * r;
      auto known =
          std::ranges::find_if(all, [&](const Loaded& l) { return l.tensor == one.tensor && l.start == one.start; });
      if (known != all.end() && read.coordinates.empty()) ++known->rows;
      else all.push_back(std::move(one));
    }
  return all;
}

// Lines of one set that all rows use at a time.
std::int64_t lines_of_rows(const Operator& op, std::size_t dim, std::int64_t rows,
                           const std::vector<TensorType>& operands, const std::vector<TensorType>& results,
                           const Machine& machine) {
  std::int64_t lines = 0;
  for (const Access& write : op.writes)
    lines += lines_in_a_set(rows, distance_along(results[write.tensor], write, dim), machine);
  for (std::uint32_t t = 0; t < operands.size(); ++t) {
    std::int64_t distance = 0, first = 0, last = 0;  // rows of this tensor, apart from the first one's place
    bool any = false;
    for (const Access& read : op.reads) {
      if (read.tensor != t) continue;
      distance = std::max(distance, distance_along(operands[t], read, dim));
      for (const AffineExpr& e : read.projection.start.rows)
        if (e.coefficients[dim] != 0) {
          first = any ? std::min(first, e.offset) : e.offset;
          last = any ? std::max(last, e.offset) : e.offset;
          any = true;
        }
    }
    lines += any ? lines_in_a_set(rows + last - first, distance, machine) : 1;
  }
  return lines;
}

}  // namespace

std::optional<std::uint32_t> rows_that_share_loads(const Operator& op, const RegisterTile& tile, std::size_t dim,
                                                   const std::vector<TensorType>& operands,
                                                   const std::vector<TensorType>& results, const Machine& machine) {
  const auto alone = static_cast<double>(loads_of(op, dim, 1).size());
  for (std::uint32_t rows : {4u, 2u}) {
    if (op.exprs.size() * rows > most_cells) continue;
    std::int64_t held = 0;  // registers
    const std::vector<Loaded> together = loads_of(op, dim, rows);
    for (const Loaded& one : together) {
      const bool moves = std::ranges::any_of(one.start, [&](const AffineExpr& e) { return e.coefficients[dim] != 0; });
      const auto bytes = static_cast<std::int64_t>(tile.lanes * size_of(compute_type(operands[one.tensor].element)));
      if (one.rows > 1 && moves) held += std::max<std::int64_t>(bytes / machine.vector_bytes, 1);
    }
    if (held > 0 && held <= machine.vector_registers - spare &&
        static_cast<double>(together.size()) <= worth * rows * alone &&
        lines_of_rows(op, dim, rows, operands, results, machine) <= ways_of_a_set(machine))
      return rows;
  }
  return {};
}

}  // namespace tap::backend
