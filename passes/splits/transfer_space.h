// The index space of a transfer: of its reader's, only what decides which cells a device needs. So operations with different index
// spaces share what they read alike.
//
//   Y[i, o] = sum[k] A[i, k] * W[k, o], i over x      A[d0, d1], d0 over x
//   Z[i] = max[k] A[i, k], i over x                   A[d0, d1], d0 over x: the same
#pragma once

#include <vector>

#include "ir/graph.h"

namespace tap::passes {

// What the reader reads of the operand, moved to its own positions, in the reader's index space.
ir::Operator transfer_of(const ir::Operator& reader, std::uint32_t operand, const ir::TensorType& type);

struct TransferSpace {
  ir::Operator op;
  std::vector<ir::BlockPlacement> placements;
};

// `transfer` has the dims of its reader, and `placements` are those of the reader on devices. The dims of the result are in the
// order in which the reads use them, then constraints, then blocks, so that equal needs give equal operators. These stay as they
// are: transfers to listed devices; those whose reader has nothing to do on some device; and those to all devices of the mesh,
// since what is on no mesh is one memory in each process, which can't be filled while the process computes something else.
TransferSpace smallest_space(ir::Operator transfer, std::vector<ir::BlockPlacement> placements);

}  // namespace tap::passes
