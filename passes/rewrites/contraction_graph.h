// The operations that compute a product in the order of a tree, as a separate program.
//
//   ((a b) c)      t0[i, k] = sum[j] a[i, j] * b[j, k]      y[i, l] = sum[k] t0[i, k] * c[k, l]
#pragma once

#include <memory>
#include <string>

#include "ir/graph.h"
#include "passes/rewrites/contraction_order.h"

namespace tap::passes {

// A map or a reduction of a product: its factors, as cells of the operator, and what they depend on.
struct ContractionProduct {
  ContractionProblem problem;
  std::vector<ir::CellId> factors;
  ir::CellOp times = ir::CellOp::mul;
};
struct ContractionGraph {
  std::shared_ptr<const ir::Program> program;    // main's inputs are the operator's operands
  std::string order;                             // ((a b) c); prepared factors are in brackets
  std::vector<std::vector<std::uint32_t>> dims;  // by operation: its dims in the operator
};

// Pre: the operator has one result, no constraints and no blockings; its dims start at 0.
ContractionGraph graph_of(const ir::Program& program, const ir::Operator& op, const ContractionProduct& product,
                          const ContractionTree& tree);

}  // namespace tap::passes
