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
  std::string rule;                              // what stands in the alternative, with the operations that it saves
  std::string remark;                            // why none is offered
  std::vector<std::vector<std::uint32_t>> dims;  // by operation of the program: which dims of the operator its own are
  double flops_before = 0, flops_after = 0;
};

// Asked of many operators of one program, it tries each law once, and answers once for operations that are alike.
class Reassociator {
 public:
  // No remark on anything but a product of three or more factors. With `strict_fp`, floats stay as they are written.
  Reassociation run(const ir::Program& program, const ir::Operator& op, bool strict_fp = false);
  // Of an operation, in its own words. Pre: always the same program and `strict_fp`.
  const Reassociation& run(const ir::Program& program, const ir::Operation& operation, bool strict_fp);

 private:
  struct Answer {
    std::vector<std::string> dims;  // what they are called; empty: as in the operator
    Reassociation is;
  };
  std::map<ir::OperatorId, Answer> answers_;  // the last one of each operator: equal ones mostly have equal dims, too
  std::map<std::pair<ir::MonoidId, ir::CellOp>, std::optional<std::string>> laws_;  // that were tried
};

// Whether an alternative's rule is one of these.
bool is_contraction_order(std::string_view rule);

}  // namespace tap::passes
