// Rows for the boxes and tasks that many devices of a mesh have in common: a program on thousands of devices has as many tasks as one
// on a few.
//
//   X[0..4]@0, X[4..8]@1, X[8..12]@2, X[12..14]@3        two rows: one of three, and the last one alone
#pragma once

#include <map>

#include "ir/block_graph.h"

namespace tap::passes {

// Of what is held of a value, which member it is of the row that it will be in, which the first one's id stands for.
std::map<ir::HeldId, ir::HeldMember> numbers_in_rows(const ir::Program& program, const ir::BlockGraph& listed,
                                                     const std::vector<ir::HeldId>& held_of_value);

// Pre: nothing is in a row but boxes, and moves from the members that numbers_in_rows tells. Tasks of one operation may change
// places.
ir::BlockGraph in_rows_of_devices(const ir::Program& program, ir::BlockGraph listed);

}  // namespace tap::passes
