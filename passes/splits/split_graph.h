// One graph with some of its operations split, and the claims that prove that it computes the same.
#pragma once

#include <set>

#include "passes/pass.h"
#include "passes/splits/split_scan.h"

namespace tap::passes {

// Rewrites one graph: each operation in its order, as it is, or cut by the one split that is its turn.
class GraphSplitter {
 public:
  GraphSplitter(ir::Program& program, ir::Interner& interner, ir::GraphId id);

  void copy(ir::OperationId o);
  void place_all(ir::OperationId o, const ir::PlannedSplit& split);  // as it is, on these devices alone
  // The name of the partials, if the operation becomes their combination.
  std::optional<std::string> cut(ir::OperationId o, std::uint32_t dim, const ir::PlannedSplit& split);
  // What it computes in a value of its own, and then in its place; the name of that value (stage_interleaved_writes.h).
  std::string stage_interleaved_writes(ir::OperationId o, const ir::Operator& staged, const ir::Operator& placed);
  // Puts the graph in its place in the program.
  ir::GraphClaim finish();

  // A reduction dim that goes over a sequential loop is streamed; else its blocks become partials.
  static bool streams(const ir::Operator& op, std::uint32_t dim, const ir::PlannedSplit& split);

 private:
  std::string cut_sum(ir::OperationId o, std::uint32_t dim, const ir::PlannedSplit& split);
  void cut_running(ir::OperationId o, const SplitScan& parts, const ir::PlannedSplit& split);
  ir::ValueId add_value(const std::string& base, ir::TensorType type);

  ir::Program& program_;
  ir::Interner& interner_;
  ir::GraphId id_;
  const ir::Graph before_;
  ir::Graph after_;
  ir::GraphClaim claim_;
  std::set<std::string> names_;
};

}  // namespace tap::passes
