// One group made of several operations of a graph: whether it is possible, over which dims, and its operator.
//
//   m[i] = max[k] x[i, k]   s[i] = sum[k] exp(x[i, k] - m[i])   y[i, j] = exp(x[i, j] - m[i]) / s[i]
//   over i: one group that reads x and writes y; of m and s a point has one cell each
//   over i, j: no, since s is complete only after its own loop over k
//
// The last operation determines the dims; every other operation whose result is read outside the group must run over
// them, too, so that the points of the group write disjoint regions. Operations that are read only inside run on the
// boxes that demand gives.
//
// A result that several operations write has no operation that runs over all of it. The group therefore ends with a copy
// of it, a map over the axes of the result:
//
//   y[i] = x[i-1] + x[i+1] for i in 1..7   y[0] = x[0]   y[7] = x[7]      over i, 0..8:  ...  y[i] = y.parts[i]
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "passes/fusion/group_facts.h"
#include "passes/fusion/group_legality.h"

namespace tap::passes {

struct MadeGroup {
  ir::Operator op;  // its graph has no number yet
  ir::Graph inner;
  std::vector<ir::OperationId> operations;  // of the enclosing graph, in the order of the inner ones
  std::vector<ir::Operator> copies;         // of the inner operations after these; they have no numbers yet, either
  std::vector<ir::ValueId> operands, results;
  GroupFacts facts;
};

// A refusal's dim is a dim of the group's last operation.
using GroupOutcome = std::variant<MadeGroup, Refusal>;

class GroupMaker {
 public:
  GroupMaker(const ir::Program& program, const ir::Graph& graph, const Caution& caution = {});

  // The last operation of a group of these ones, whose dims are the group's. Pre: at least one operation.
  ir::Operator last_of(std::vector<ir::OperationId> operations) const;
  // The group over these dims of its last operation. Pre: at least one operation.
  GroupOutcome make(std::vector<ir::OperationId> operations, const std::vector<std::uint32_t>& over) const;
  // The group over as many of the last operation's dims as the limit on recomputation allows.
  GroupOutcome make(std::vector<ir::OperationId> operations, const RecomputeLimit& limit) const;

  // The results of these (sorted) operations that several of them write.
  std::vector<ir::ValueId> copied_results(const std::vector<ir::OperationId>& operations) const;
  // Whether an operation outside these (sorted) ones uses the value. A value without readers does not count, unless its
  // writer writes nothing else.
  bool escapes(ir::ValueId value, const std::vector<ir::OperationId>& operations) const;

  const ir::DefUse& uses() const { return uses_; }
  bool is_output(ir::ValueId value) const { return is_output_[value.index()]; }
  // With the operators of the copies.
  const ir::Program& program() const { return with_copies_ ? *with_copies_ : program_; }
  ir::OperatorId copy_of(ir::ValueId value) const { return copies_.at(value); }
  const ir::Graph& graph() const { return graph_; }
  const Caution& caution() const { return caution_; }
  // Its devices are decided, or it reads or is a transfer.
  bool is_placed(ir::OperationId operation) const {
    return bound_[operation.index()] || !graph_[operation].placements.empty();
  }

 private:
  const ir::Program& program_;
  const ir::Graph& graph_;
  Caution caution_;
  std::optional<ir::Program> with_copies_;
  std::map<ir::ValueId, ir::OperatorId> copies_;  // of each value that several operations write
  ir::DefUse uses_;
  std::vector<bool> is_output_;
  std::vector<bool> bound_;  // by operation: bound to transfers
};

}  // namespace tap::passes
