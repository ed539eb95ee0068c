// A row of boxes: the first, and others that each begin where the one before them ends, along some of the dims.
//
//   [0..1, 0..8], 4 times along (0, 1)      is   [0..1, 0..8], [1..2, 8..16], [2..3, 16..24], [3..4, 24..32]
//
// So the blocks of an operation that one device runs are one task, however many they are.
#pragma once

#include "ir/box.h"

namespace tap::ir {

struct Row {  // but for its first box, which whoever has a row has beside it
  std::int64_t count = 1;
  std::vector<std::uint32_t> dims = {};  // none of a row of one

  Box at(const Box& first, std::int64_t n) const;  // throws Overflow
  // Whether the box is the next of the row, which now ends with it.
  bool add(const Box& first, const Box& next);
  bool operator==(const Row&) const = default;
};

}  // namespace tap::ir
