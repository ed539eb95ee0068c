// The graph on which shardings propagate: its nodes are the values of a program's graphs and the uses with a sharding
// of their own; the sites connect them, including those at the boundaries of regions.
//
//   (u) = iterate (v = u0) { … w }     one site (u0, w) -> (v, u): the state has one sharding before, in and after the loop
#pragma once

#include <memory>

#include "ir/shardings/sharding.h"
#include "passes/shardings/sites.h"

namespace tap::passes {

using NodeId = std::uint32_t;

struct Node {
  ir::GraphId graph;
  ir::ValueId value;
  // Set for a use with its own sharding.
  std::optional<ir::OperationId> reader;
  std::uint32_t operand = 0;
  std::optional<ir::Sharding> sharding;
  std::vector<std::uint32_t> writers = {}, readers = {};  // hyperedges
  std::uint32_t group = ~0u;
  std::optional<NodeId> constrained_by = {};  // the copy whose closed sharding it has
  bool synthetic =
      false;  // what readers of a value see if it differs from the value's own sharding; not part of any program
};

struct Hyperedge {
  std::vector<NodeId> operands, results;  // as in `factors`
  const Factors* factors = nullptr;
  std::vector<bool> broadcast;  // by operand
  bool moves_no_data = false;
  bool elementwise = false;
  bool program_result = false;                   // a copy to a program result, in the sharding that the caller expects
  bool reused_operand = false;                   // an operand with other uses
  bool no_forward = false, no_backward = false;  // a barrier
  ir::GraphId graph;
  std::optional<ir::OperationId> operation;      // the first; none at the boundary of a region
  std::vector<ir::OperationId> operations = {};  // all
};

struct ShardingNet {
  std::vector<Node> nodes;
  std::vector<Hyperedge> hyperedges;  // in the order of the program
  std::vector<std::vector<NodeId>> groups;
  std::vector<std::unique_ptr<Factors>> factors;  // what hyperedges point to

  NodeId node_of(ir::GraphId graph, ir::ValueId value) const { return first_[graph.index()] + value.index(); }
  std::vector<NodeId> first_;  // by graph; ~0u if main does not reach it
};

ShardingNet net_of(const ir::Program& program);

// A copy of the value, which all its readers read from now on.
NodeId copy_for_readers(ShardingNet& net, const ir::Program& program, NodeId of);

}  // namespace tap::passes
