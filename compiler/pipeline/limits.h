// Limits for everything that is listed one by one and held in memory; symbolic stages have none. A plan may split Y
// into 2^40 blocks on 2^20 devices, and is then checked and simulated; a list of all its blocks, which native code
// needs, is rejected before it is built.
//
//   `Y` is split into 4096 × 4096 = 16777216 blocks; at most 1048576 per operation can be listed
#pragma once

#include "compiler/pipeline/failures.h"
#include "ir/graph_ids.h"

namespace tap::pipeline {

inline constexpr std::int64_t most_listed = std::int64_t{1} << 20;         // blocks of an operation
inline constexpr std::int64_t most_listed_in_all = std::int64_t{1} << 22;  // of a program

// Throws TooManyBlocks if the explicit blocks of the program are too many to list.
void require_listable(const ir::Program& program);

inline constexpr std::int64_t most_bytes = std::int64_t{1} << 56;  // of a value: addresses have fewer bits

// Throws Failure, exit 4, if a value takes more bytes.
void require_addressable(const ir::Program& program);

inline constexpr std::int64_t most_index = std::int64_t{1} << 60;  // of a loop: a tile's end must not overflow

// Throws Failure, exit 4, if an index dim reaches further.
void require_countable(const ir::Program& program);

}  // namespace tap::pipeline
