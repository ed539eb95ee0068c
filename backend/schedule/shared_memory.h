// Which values the devices of one process share. A device computes its part in its place in the whole tensor, and the others
// read it there: what is a message between processes needs no copy. An all-reduce by slices then reads all partials and
// writes the result once:
//
//   p[r, j] on device r      p.moved[0..2, slice of r] = transfer(p)      y[j] = sum[r] p.moved[r, j], by slices
//   one memory for p and p.moved, one for y
#pragma once

#include <optional>
#include <vector>

#include "ir/block_graph.h"

namespace tap::backend {

// By held box: the value in whose memory it is, or nothing if it has memory of its own. Values are shared if no two devices
// hold the same cells, as these would be computed twice in one place.
std::vector<std::optional<ir::ValueId>> shared_values(const ir::Program& program, const ir::BlockGraph& blocks);

// In an MPI job each device has memory of its own. There, what a transfer brings is put beside the part of the value that the
// device has computed, where that takes no more memory: the part is not copied.
//
//   p[r, j] on device r, p.moved[0..2, slice of r]      one memory of [0..2, all j] on each device
struct HeldMemory {
  ir::HeldId of;     // the held box in whose memory it is; its own number if it has one
  ir::Box box = {};  // of this memory
  ir::Row row = {};
};
std::vector<HeldMemory> joined_memories(const ir::Program& program, const ir::BlockGraph& blocks);  // by held box

// With number 0 for the members of shared rows, in all tasks of its row.
ir::Application without_shared_members(ir::Application calls, const std::vector<std::optional<ir::ValueId>>& shared);

}  // namespace tap::backend
