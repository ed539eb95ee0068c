// The index space of a transfer: of its reader's, only what decides which cells a device needs. So operations with different index
// spaces share what they read alike.
//
//   Y[i, o] = sum[k] A[i, k] * W[k, o], o over x      A[d0, d1], everywhere
//   Z[i, j] = exp(A[i, j])                            A[d0, d1], everywhere: the same
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
// order in which the reads use them, then constraints, then blocks, so that equal needs give equal operators. Transfers to listed devices stay as they are; and so do those that would go to all devices, if
// devices hold equal parts: then each of them takes what is nearest to it; and those whose reader has nothing to do on some device.
TransferSpace smallest_space(const ir::Program& program, ir::Operator transfer,
                             std::vector<ir::BlockPlacement> placements, bool parts_differ);

}  // namespace tap::passes
