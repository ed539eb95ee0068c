// The one split of the thin thread: each operation's largest free parallel dim, cut into blocks that run on threads.
#pragma once

#include "ir/block_graph.h"

namespace tap::backend {

// One block: operations stay whole. `graph` becomes the main one.
ir::BlockProgram cut_for_threads(const ir::Program& program, ir::GraphId graph, std::int64_t blocks);

}  // namespace tap::backend
