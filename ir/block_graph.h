// The explicit stage: every operation as applications, each an operator on one box of its index space.
//
//   y[i] = x[i] over i in 0..10, cut into 3:   apply copy(x) -> (y) over [0..4], [4..8], [8..10]
//
// A split of a reduction adds two things: partial values, with a leading block axis, that an operator with one more
// parallel dim (the block's number) writes; and an operation that combines them.
#pragma once

#include "ir/graph.h"

namespace tap::ir {

struct BlockSplit {
  std::uint32_t dim = 0;      // the index dim that is cut …
  std::vector<Range> blocks;  // … into these consecutive blocks; some may be empty
  Placement placement = Placement::threads;
  std::optional<AxisRef> axis;             // placement on a mesh axis
  std::optional<std::uint32_t> block_dim;  // of a split reduction: the parallel dim that is the block's number
  bool operator==(const BlockSplit&) const = default;
};

struct Application {
  std::vector<std::uint32_t> block;  // which block of each split
  Box box;                           // over all index dims of the operator
  bool operator==(const Application&) const = default;
};

struct BlockOperation {
  OperatorId op;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<BlockSplit> splits;
  std::vector<Application> applications;  // the product of the splits' blocks, row-major; one whole box without splits
  bool operator==(const BlockOperation&) const = default;
};

// Operator ids refer to the Program that the graph was expanded in.
struct BlockGraph {
  std::string name;
  std::vector<Value> values;  // those of the graph, in order; then partials
  std::vector<BlockOperation> operations;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  const Value& operator[](ValueId id) const { return values[id.index()]; }
  bool operator==(const BlockGraph&) const = default;
};

// All graphs of a program as applications, by GraphId. The program's operators include those that splits added.
struct BlockProgram {
  Program program;
  std::vector<BlockGraph> graphs;
  bool operator==(const BlockProgram&) const = default;
};

// Ceil blocks (blocks.h), written out.
std::vector<Range> ceil_blocks(Range range, std::int64_t count);

// The applications of an operator whose splits are these.
std::vector<Application> applications_of(const Operator& op, const std::vector<BlockSplit>& splits);

std::string print(const Program& program, const BlockGraph& graph);

}  // namespace tap::ir
