// The canonical form of an operator: what is left when nobody can tell how it was written. Two operators that differ
// only in names, in the order of index variables, operands, accesses, constraints or cells, or in the order of the
// operands of commutative cell operations, have equal codes.
//
//   c[i, j] = sum[k] a[i, k] * b[k, j]    and    p[u, v] = sum[t] y[t, v] * x[u, t]    have one code,
//   in which the first one's operand 0 has the place of the second one's operand 1
//
// What has an order keeps it: the axes of tensors, what a monoid that does not commute reduces over, and everything of
// an outside kernel.
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

// With labels, one for each operand, operands are told apart by them and equal ones are one tensor: the code then says
// which values the operator is applied to.
//
// A very symmetric operator may have more orders than are tried (512); its form is then not canonical, and it may be
// taken for different from an equal one, never for equal to a different one.
//
// Pre: not a region.
CanonicalForm canonical_form(const ir::Program& program, const ir::Operator& op,
                             const std::vector<std::int64_t>& labels = {});

}  // namespace tap::passes
