// Rows for the boxes and tasks that many devices of a mesh have in common: a program on thousands of devices has as many tasks as one
// on a few.
//
//   X[0..4]@0, X[4..8]@1, X[8..12]@2, X[12..14]@3        two rows: one of three, and the last one alone
#pragma once

#include <map>

#include "ir/block_graph.h"

namespace tap::passes {

// For each box that is held of a value: its future row, given by the id of the row's first box, and its number in it.
std::map<ir::HeldId, ir::HeldMember> numbers_in_rows(const ir::Program& program, const ir::BlockGraph& listed,
                                                     const std::vector<ir::HeldId>& held_of_value);

// Pre: rows contain only boxes; moves start at the members that numbers_in_rows gives. Tasks of one operation may be
// reordered.
ir::BlockGraph in_rows_of_devices(const ir::Program& program, ir::BlockGraph listed);

}  // namespace tap::passes
