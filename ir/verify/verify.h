// The verifier: the well-formedness of a Program that every pass may rely on. It proves nothing about values (legality
// does): ids in range, ranks and types agree, cells are typed, write order, regions match their graphs.
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"

namespace tap::ir {

// One sentence per violation; empty if all is well.
std::vector<std::string> verify(const Program& program);

}  // namespace tap::ir
