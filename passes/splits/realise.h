// From a graph whose operations are cut and placed to the sharded graph: where a consumer on some devices needs cells that the
// producer's devices do not hold, a transfer stands between them; where each has what it needs they are connected directly.
//
//   Z[i] over data, Y[i] = relu(Z[i]) over data        Y reads its own shard of Z
//   Z[i] over data, S = sum[i] Z[i]                    S reads T, a transfer of Z
//
//   iterate 5 (u = X) { v[i] = u[i - 1] + u[i + 1] over data; v }       a step finds u where the one before left v
//
// Its size does not depend on how many devices there are: which box goes where is said by the consumer's projections.
#pragma once

#include "passes/pass.h"

namespace tap::passes {

struct RealiseResult {
  ir::Program program;
  ir::Step step;
};
// Pre: splits are applied. Post: every operand of an operation is held where the operation runs.
RealiseResult realise(const ir::Program& program);
// As a pass.
PassResult realise(const ir::Program& program, const PassContext& context);

// Whether each device that runs the consumer holds of the value what access `read` of it asks for, told by the facts alone.
bool held_where_read(const ir::Program& program, const ir::Graph& graph, const ir::Operation& producer,
                     std::uint32_t write, const ir::Operation& consumer, std::uint32_t read);

}  // namespace tap::passes
