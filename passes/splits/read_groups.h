// Groups the reads of one operand that are close to each other on the devices that run an operation. A device
// allocates the bounding box of what it reads of a tensor; if its reads are far apart, most of that box would be
// unused.
//
//   Y[i, j] = A[i, j] + A[j, i], i over 4 devices       rows of A on each, and columns: two groups, each its own transfer
//   Y[i] = A[i - 1] + A[i + 1]                          one
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/placement.h"

namespace tap::passes {

// The numbers of the reads, in groups. Only maps and reductions are grouped: the operands of regions and outside
// kernels are fixed by their author.
std::vector<std::vector<std::uint32_t>> nearby_reads(const ir::Program& program, const ir::Operation& operation,
                                                     std::uint32_t operand);
// … of an operator with these placements.
std::vector<std::vector<std::uint32_t>> nearby_reads(const ir::Program& program, const ir::Operator& op,
                                                     const std::vector<ir::BlockPlacement>& placements,
                                                     std::uint32_t operand);

// The operator in which each group but the first is a separate operand, appended to the others.
ir::Operator with_operands_for(ir::Operator op, std::uint32_t operand,
                               const std::vector<std::vector<std::uint32_t>>& groups);

}  // namespace tap::passes
