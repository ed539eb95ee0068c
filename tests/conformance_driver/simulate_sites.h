// Whether an operation's shardings make sense, device by device: the oracle of whoever chooses them. It knows boxes and
// projections only.
#pragma once

#include "passes/shardings/explicit_reshards.h"

namespace tap::passes {

// What a device that holds its boxes of the operands cannot compute of its boxes of the results, a line each; nothing if
// everyone can. Windows reach over the edges of their blocks: the cells there come from neighbours, and are not asked for.
std::vector<std::string> faults_of(const ir::Program& program, ir::GraphId graph, const SiteShardings& site);

}  // namespace tap::passes
