// A tensor as a grid of its shards, for a terminal: any rank, uneven and overlapping boxes.
//
//            0..4     4..8
//          +--------+--------+
//   0..4   | 0      | 1      |
//          +--------+--------+
//   4..8   | 2      | 3      |
//          +--------+--------+
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/box.h"

namespace tap::driver {

struct HeldBox {
  ir::Box box;
  std::int64_t device = 0;  // -1: all
};

// The last two axes are rows and columns; the others are written above each grid. What does not fit is said. Without `colour`,
// plain ASCII.
std::string shard_grid(const Shape& shape, const std::vector<HeldBox>& held, bool colour);

}  // namespace tap::driver
