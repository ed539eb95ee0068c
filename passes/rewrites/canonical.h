// The canonical form of an operator. Two operators that differ only in names, in the order of index variables,
// operands, accesses, constraints or cells, or in the order of the operands of commutative cell operations, have
// equal codes.
//
//   c[i, j] = sum[k] a[i, k] * b[k, j]    and    p[u, v] = sum[t] y[t, v] * x[u, t]    have the same code,
//   in which operand 0 of the first corresponds to operand 1 of the second
//
// Where order matters, it is kept: the axes of tensors, the reduction dims of a monoid that does not commute, and
// everything in an outside kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::passes {

struct CanonicalForm {
  // The whole operator, written in its canonical order: equal codes mean equal operators, not just equal hashes.
  std::vector<std::int64_t> code;
  // By canonical number: the operator's own. Operands that no cell needs have no number.
  std::vector<std::uint32_t> dims, operands, results;
};

// With labels, one for each operand, operands with equal labels are one tensor, and the code depends on the labels: it
// identifies the values that the operator is applied to.
//
// For a very symmetric operator not all orders are tried (at most 512). Its form is then not canonical: equal operators
// may have different codes, but different ones never have equal codes.
//
// Pre: not a region.
CanonicalForm canonical_form(const ir::Program& program, const ir::Operator& op,
                             const std::vector<std::int64_t>& labels = {});

}  // namespace tap::passes
