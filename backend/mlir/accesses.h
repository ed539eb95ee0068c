// The accesses of an operation in linalg's terms: a slice of the tensor, padded where the read is out of bounds, and
// an indexing map over loops that all start at 0.
//
//   y[i] = sum[u in 0..3] x[i + u - 1 else 0]      x padded by one cell on either side, (d0, d1) -> (d0 + d1)
//   y[n + j] = b[j]                                written to the slice [n][m], (d0) -> (d0)
#pragma once

#include <optional>

#include "backend/mlir/text.h"

namespace tap::backend::mlir {

// The loops of a linalg.generic: the dims of an operator except counters.
struct Loops {
  std::vector<std::uint32_t> dims;    // of each loop
  std::vector<std::int64_t> sizes;    // likewise
  std::vector<std::string> counters;  // by dim: a counter's value, of type index; else empty
};
Loops loops_of(const ir::Operator& op, const std::vector<std::string>& counters);

// One axis of a tensor: a row of a projection, over loops that start at 0.
struct Row {
  std::vector<std::int64_t> coefficients = {};  // by loop
  std::int64_t offset = 0;
  std::vector<std::pair<std::string, std::int64_t>> counters = {};  // counter values with their coefficients
  ir::Range bounds = {};                                            // of the whole row
  ir::Range own_bounds = {};                                        // without counters
  // The loop, if the row is a single loop with coefficient 1; nothing for other rows.
  std::optional<std::size_t> loop() const;
  bool is_constant() const;
};
std::vector<Row> rows_of(const ir::Operator& op, const ir::Access& access, const Loops& loops);

// A part of a tensor and the map into it.
struct Slice {
  std::vector<std::int64_t> offsets = {};                                   // by axis, plus the counters below
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> counters;  // counters with their coefficients
  Shape sizes = {};
  std::vector<Row> rows = {};  // in the slice
  bool whole = true;           // it is the whole tensor
  bool dense = true;           // every cell is accessed by exactly one point of the loops that it uses
};
Slice slice_of(std::vector<Row> rows, const Shape& shape);

std::string map_text(const std::vector<Row>& rows, std::size_t loops);  // (d0, d1) -> (d0 + d1)
std::string take_slice(Text& text, const std::string& tensor, const ir::TensorType& type, const Slice& slice);
std::string put_slice(Text& text, const std::string& part, const std::string& tensor, const ir::TensorType& type,
                      const Slice& slice);

}  // namespace tap::backend::mlir
