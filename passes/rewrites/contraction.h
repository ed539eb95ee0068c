// Products over a semiring: y = ⊕ of a ⊗ b ⊗ c …, where ⊗ distributes over ⊕, may be computed two factors at a time,
// in any order, each time reducing over the dims that no other factor and no result needs.
//
//   y[i, l] = sum[j, k] a[i, j] * b[j, k] * c[k, l]     →     t[i, k] = sum[j] a[i, j] * b[j, k]
//                                                            y[i, l] = sum[k] t[i, k] * c[k, l]
//
// ⊕ and ⊗ are recognised from the monoid and the cells (semiring.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace tap::passes {

struct Reassociation {
  std::shared_ptr<const ir::Program> program;    // null if none is offered; main's inputs are the operator's operands
  std::string rule;                              // the alternative's rule, with the operation count that it saves
  std::string remark;                            // why none is offered
  std::vector<std::vector<std::uint32_t>> dims;  // by operation of the program: its dims in the operator
  double flops_before = 0, flops_after = 0;
};

// Tests each law once and computes one answer for equal operations, over many operators of one program.
class Reassociator {
 public:
  // Remarks only on products of three or more factors. With `strict_fp`, floats stay as written.
  Reassociation run(const ir::Program& program, const ir::Operator& op, bool strict_fp = false);
  // For an operation, with its own names. Pre: always the same program and `strict_fp`.
  const Reassociation& run(const ir::Program& program, const ir::Operation& operation, bool strict_fp);

 private:
  struct Answer {
    std::vector<std::string> dims;  // their names; empty: as in the operator
    Reassociation is;
  };
  std::map<ir::OperatorId, Answer> answers_;  // the last one: equal operators usually have equal dim names
  std::map<std::pair<ir::MonoidId, ir::CellOp>, std::optional<std::string>> laws_;  // already tested
};

// Whether the rule of an alternative is a contraction order.
bool is_contraction_order(std::string_view rule);

}  // namespace tap::passes
