// Simplifies questions about writes before they are proved.
//
// A flattened axis is separated into its original dims, so that the proof has several small equations instead of one
// with many variables. An axis that every writer covers with a separate dim is removed together with that dim:
//
//   y[7*i + j, k] for j in 0..7, i <= k      becomes      y'[i, k] for i <= k, with j left out
//
// All writers must have the same digits on the axis. A cell that is written twice, out of bounds or never in one form
// then corresponds to one in the other, at the same points (removed dims at their start) and in the same order.
#pragma once

#include <vector>

#include "compiler/frontend/proofs/legality_box.h"

namespace tap {

struct SplitDigits {
  // The digits of all axes of y, in order; an axis that is not separated has one, of stride 1.
  struct Digit {
    std::size_t axis = 0;
    std::int64_t stride = 1;
    bool kept = true;           // an axis of y'
    std::int64_t at_begin = 0;  // if removed: its value at the start of the dim
  };
  std::size_t rank = 0;  // of y
  std::vector<Digit> digits;
  Shape shape;
  std::vector<WriteMap> maps;

  // The cell of y that the points write; and the first of the equivalent cells.
  ir::Point cell_of_points(const ir::Point& cell) const { return original(cell, true); }
  ir::Point first_cell(const ir::Point& cell) const { return original(cell, false); }

 private:
  ir::Point original(const ir::Point& cell, bool of_points) const;
};
SplitDigits split_digits(const Shape& shape, const std::vector<WriteMap>& maps);

}  // namespace tap
