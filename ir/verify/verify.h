// The verifier: the well-formedness of a Program, on which every pass relies: ids in range, ranks and types agree,
// cells are typed, values are written before they are read, regions match their graphs. It proves nothing about
// values (legality does).
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

// One sentence per violation; empty if all is well.
std::vector<std::string> verify(const Program& program);

}  // namespace tap::ir
