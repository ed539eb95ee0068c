// Maps on narrow rows, each of which reads the same cells of some operands: these are repeated in a small copy, so that vectors
// run over several rows as over one long row.
//
//   y[i, j] = x[i, j] + b[j], with 10 cells in a row
//
//     for r in 0..32 { copy[10*r + j] = b[j] }
//     for i in steps of 32
//       for j in 0..320 { y[i, j] = x[i, j] + copy[j] }      cells behind a row are those of the next
#pragma once

#include "backend/lower/register_tile.h"

namespace tap::backend {

struct RepeatedRows {
  std::size_t dim = 0;     // along which the rows follow each other
  std::int64_t count = 0;  // of rows that are one long row
  std::vector<std::uint32_t> reads;
};
// Empty if rows are wide, or some operand is neither read by whole rows that follow each other nor the same in each of them.
// The tile's lanes run along the rows.
std::optional<RepeatedRows> choose_repeated_rows(const ir::Operator& op, const RegisterTile& tile,
                                                 const Extents& extents);

}  // namespace tap::backend
