// What devices of a mesh hold and do alike, in rows: a program on thousands of devices has as many tasks as one on a few.
//
//   X[0..4]@0, X[4..8]@1, X[8..12]@2, X[12..14]@3        two rows: one of three, and the last one alone
#pragma once

#include "ir/block_graph.h"

namespace tap::passes {

// Pre: nothing is in a row but boxes. Tasks of one operation may change places.
ir::BlockGraph in_rows_of_devices(const ir::Program& program, ir::BlockGraph listed);

}  // namespace tap::passes
