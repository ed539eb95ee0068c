// From a graph with split and placed operations to the sharded graph: inserts a transfer where a consumer's device
// needs cells that the producer's device does not hold; otherwise they are connected directly.
//
//   Z[i] over data, Y[i] = relu(Z[i]) over data        Y reads its own shard of Z
//   Z[i] over data, S = sum[i] Z[i]                    S reads T, a transfer of Z
//
//   iterate 5 (u = X) { v[i] = u[i - 1] + u[i + 1] over data; v }       a trip reads u where the previous one left v
//
// The size of the result does not depend on the number of devices: the consumer's projections determine which box
// goes where.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

struct RealiseResult {
  ir::Program program;
  ir::Step step;
};
// Pre: splits are applied. Post: every operand of an operation is held on the devices where the operation runs.
RealiseResult realise(const ir::Program& program);
// As a pass.
PassResult realise(const ir::Program& program, const PassContext& context);

// Whether each device that runs the consumer holds the cells of the value that access `read` needs, from static facts
// alone.
bool held_where_read(const ir::Program& program, const ir::Graph& graph, const ir::Operation& producer,
                     std::uint32_t write, const ir::Operation& consumer, std::uint32_t read);

}  // namespace tap::passes
