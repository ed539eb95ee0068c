// Blocks: a range split into consecutive pieces, which tile it in order. Some may be empty.
//
//   Blocks{4}.block({0, 10}, 3) == {9, 10}          ceil blocks: 3, 3, 3, 1
//   Blocks{2, {0, 100, 4096}}.block({0, 4096}, 1) == {100, 4096}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/box.h"

namespace tap::ir {

struct Blocks {
  std::int64_t count = 1;
  // Where each block begins, and where the last one ends. Empty: blocks of ceil(size / count) points, the last ones
  // shorter or empty. Equal blocks follow this rule everywhere, also blocks of blocks.
  std::vector<std::int64_t> boundaries = {};

  Range block(Range whole, std::int64_t number) const;
  bool operator==(const Blocks&) const = default;
};

// Whether these blocks tile that range.
bool tiles(const Blocks& blocks, Range whole);
// The blocks in this list; equal blocks are given by their count alone.
Blocks blocks_of(Range whole, const std::vector<Range>& blocks);

std::string to_string(const Blocks& blocks);  // 4, or [0, 100, 4096]

}  // namespace tap::ir
