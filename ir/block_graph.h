// The explicit stage: operations as applications, each an operator on one box of its index space on one device, and the moves
// of boxes between devices. Applications on one device that follow on each other are one task.
//
//   y[i] = x[i] over i in 0..10, cut into 3:   apply copy(x) -> (y) on [0..4], [4..8], [8..10]
#pragma once

#include "ir/graph.h"
#include "ir/row.h"

namespace tap::ir {

using HeldId = Id<struct HeldTag>;

inline constexpr std::int64_t everywhere = -1;  // every device: inputs, and what runs on no mesh

// The box of a value that a device holds.
struct Held {
  ValueId value;
  std::int64_t device = everywhere;
  Box box;
  bool operator==(const Held&) const = default;
};

struct Application {
  OperationId operation;
  std::int64_t device = everywhere;
  Box box;                       // over all index dims of the operator
  std::vector<HeldId> operands;  // as the operation's
  std::vector<HeldId> results;
  Row row = {};  // the box is the first of it
  bool operator==(const Application&) const = default;
};

// A box of a value, from one device to another.
struct Move {
  OperationId operation;  // the transfer
  HeldId from, to;
  Box box;
  bool operator==(const Move&) const = default;
};

using Task = std::variant<Application, Move>;

struct BlockGraph {
  GraphId graph;  // of the program, which has the values and operations
  std::vector<Held> held;
  std::vector<Task> tasks;     // in an order in which everything is there when it is needed
  std::vector<HeldId> inputs;  // as the graph's

  // For each of the graph's outputs, all that is held of it.
  std::vector<std::vector<HeldId>> outputs;
  const Held& operator[](HeldId id) const { return held[id.index()]; }
  bool operator==(const BlockGraph&) const = default;
};

// All graphs of a program as tasks, by GraphId; those that main does not reach are empty.
struct BlockProgram {
  Program program;
  std::vector<BlockGraph> graphs;
  bool operator==(const BlockProgram&) const = default;
};

// Dims whose points are separate applications: those that number the blocks of parallel dims, and those that are placed.
std::vector<std::uint32_t> application_dims(const Operator& op, const Operation& operation);
// The boxes of the applications, row-major in these dims. What only orders a walk is left to whoever applies the operator.
std::vector<Box> application_boxes(const Operator& op, const std::vector<std::uint32_t>& dims, const Box& within);
// Of an operation. They may run in any order: the dim of most blocks goes last, so that rows are long, and few.
std::vector<Box> application_boxes(const Operator& op, const Operation& operation, const Box& within);
// Adds an application on each box, in rows; and tasks that are rows of one.
void add_applications(const Application& common, std::vector<Box> boxes, std::vector<Task>& tasks);
std::vector<Task> one_by_one(const std::vector<Task>& tasks);
// The operator on a box, as one without blockings: a dim that only orders a walk has one point.
Box box_to_run(const Operator& op, Box box);

// The hull of what the accesses to one operand, or result, touch from a box, inside the tensor. A reduction over nothing
// still writes.
Box read_region(const Operator& op, std::uint32_t operand, const Box& box);
// The same as boxes that do not meet: one, or several if that leaves out half of it and more, as where a tensor is read from both
// of its ends.
std::vector<Box> read_pieces(const Operator& op, std::uint32_t operand, const Box& box);
Box written_region(const Operator& op, std::uint32_t result, Box box);

// Ceil blocks (blocks.h), written out.
std::vector<Range> ceil_blocks(Range range, std::int64_t count);

// For people; stage_text.h has the form that can be read back.
std::string print(const Program& program, const BlockGraph& graph);

}  // namespace tap::ir
