// Maps on narrow rows, each of which reads the same cells of some operands: these are repeated in a small copy, so that vectors
// run over several rows as over one long row.
//
//   y[i, j] = x[i, j] + b[j], with 10 cells in a row
//
//     for r in 0..32 { copy[10*r + j] = b[j] }
//     for i in steps of 32
//       for j in 0..320 { y[i, j] = x[i, j] + copy[j] }      cells behind a row are those of the next
//
// An operand with one cell for each row is repeated along the rows, if the rows are read again for other points, and if vectors that are
// full save enough. From memory less than that: pieces of some rows come more slowly than all rows in order.
//
//   y[r, i, j] = x[r, i, j] * g[i], with 49 cells in a row
//
//     for i in steps of 16
//       for k in 0..16 { copy[49*k + j] = g[i + k] }
//       for r
//         for j in 0..784 { y[r, i, j] = x[r, i, j] * copy[j] }
#pragma once

#include "backend/tiles/register_tile.h"

namespace tap::backend {

struct RepeatedRows {
  std::size_t dim = 0;                // along which the rows follow each other
  std::int64_t count = 0;             // of rows that are one long row
  std::vector<std::uint32_t> reads;   // the same in each row
  std::vector<std::uint32_t> spread;  // the same within a row
};
// Empty if rows are wide, or some operand is neither read by whole rows that follow each other nor repeated as above.
// The tile's lanes run along the rows.
std::optional<RepeatedRows> choose_repeated_rows(const ir::Operator& op, const RegisterTile& tile,
                                                 const Extents& extents, const ir::Machine& machine);

// Which axis of such a tensor has its rows: between it and the last one are only axes of one cell.
std::size_t axis_of_rows(const Shape& shape);

}  // namespace tap::backend
