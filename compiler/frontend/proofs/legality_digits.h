// Questions about writes made smaller before they are proved.
//
// Flattened axes are taken apart, so that a proof sees what was meant and not one equation of many variables; and an axis
// that every writer covers with a dim of its own is left out, with that dim:
//
//   y[7*i + j, k] for j in 0..7, i <= k      becomes      y'[i, k] for i <= k, with j left out
//
// All writers must have the same digits on the axis. Then what is written twice, outside or never in one is so in the
// other, at the same points (dims that are left out at their begin) and at cells that correspond, in the same order.
#pragma once

#include <vector>

#include "compiler/frontend/proofs/legality_box.h"

namespace tap {

struct SplitDigits {
  // The digits of all axes of y, in order; an axis that stays as it is has one, of stride 1.
  struct Digit {
    std::size_t axis = 0;
    std::int64_t stride = 1;
    bool kept = true;           // an axis of y'
    std::int64_t at_begin = 0;  // else: its value where the dim is at its begin
  };
  std::size_t rank = 0;  // of y
  std::vector<Digit> digits;
  Shape shape;
  std::vector<WriteMap> maps;

  ir::Point cell_of_points(const ir::Point& cell) const {
    return original(cell, true);
  }                                                                                    // the cell of y that they write
  ir::Point first_cell(const ir::Point& cell) const { return original(cell, false); }  // the first of those like it

 private:
  ir::Point original(const ir::Point& cell, bool of_points) const;
};
SplitDigits split_digits(const Shape& shape, const std::vector<WriteMap>& maps);

}  // namespace tap
