// One graph with some of its operations split, and the claims that prove that it computes the same.
#pragma once

#include <map>
#include <set>

#include "passes/pass.h"
#include "passes/splits/split_scan.h"

namespace tap::passes {

// Rewrites one graph: operations in order, each unchanged or with one split applied.
class GraphSplitter {
 public:
  GraphSplitter(ir::Program& program, ir::Interner& interner, ir::GraphId id);

  // Reads of the values in `replaced` become reads of their copies.
  void copy(ir::OperationId o, const std::map<ir::ValueId, ir::ValueId>& replaced = {});
  // An operation that copies the whole value; returns the copy.
  ir::ValueId add_copy(ir::ValueId of);
  const std::string& name_of(ir::ValueId value) const { return after_[value].name; }
  void place_all(ir::OperationId o, const ir::PlannedSplit& split);  // unsplit, on these devices only
  // Returns the name of the partials if the operation becomes their combination.
  std::optional<std::string> split(ir::OperationId o, std::uint32_t dim, const ir::PlannedSplit& split);
  // Computes into a staging buffer, then puts the cells in place; returns the buffer's name
  // (stage_interleaved_writes.h).
  std::string stage_interleaved_writes(ir::OperationId o, const ir::Operator& staged, const ir::Operator& placed);
  // Puts the graph in its place in the program.
  ir::GraphClaim finish();

  // A reduction dim in a sequential loop is streamed; otherwise its blocks become partials.
  static bool streams(const ir::Operator& op, std::uint32_t dim, const ir::PlannedSplit& split);

 private:
  // What an operator became, for the next operation with the same one.
  struct BlockedOperator {
    bool no_scan = false;  // whole operations with this operator run as no scan
    std::vector<std::string> of_dims;
    ir::Blocks blocks;
    bool streamed = false;
    ir::OperatorId op;
    std::vector<std::string> dims;  // with the new one

    bool is_for(const ir::Program& program, const ir::Operation& operation, const ir::Blocks& into,
                bool as_stream) const {
      return op.valid() && (no_scan || !operation.placements.empty()) && streamed == as_stream && blocks == into &&
             of_dims == (operation.names ? operation.names->dims : program[operation.op].dim_names());
    }
  };

  std::string split_into_partials(ir::OperationId o, std::uint32_t dim, const ir::PlannedSplit& split);
  void split_into_scan(ir::OperationId o, const SplitScan& parts, const ir::PlannedSplit& split);
  ir::ValueId add_value(const std::string& base, ir::TensorType type);
  std::string unused_name(const std::string& base);

  ir::Program& program_;
  ir::Interner& interner_;
  ir::GraphId id_;
  const ir::Graph before_;
  ir::Graph after_;
  ir::GraphClaim claim_;
  std::set<std::string> names_;
  std::map<std::pair<ir::OperatorId, std::uint32_t>, BlockedOperator> blocked_;  // by operator and dim
};

}  // namespace tap::passes
