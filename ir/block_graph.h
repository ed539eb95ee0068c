// The explicit stage: operations as applications, each an operator on one box of its index space on one device, and
// moves of boxes between devices. What many devices hold or do alike is one row (row.h).
//
//   y[i] = x[i] over i in 0..10, split into 3:   apply copy(x) -> (y) on [0..4], [4..8], [8..10]
#pragma once

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/row.h"

namespace tap::ir {

using HeldId = Id<struct HeldTag>;

inline constexpr std::int64_t everywhere = -1;  // every device: inputs, and what runs on no mesh

// The box of a value that a device holds. In a row, each member is on another device.
struct Held {
  ValueId value;
  std::int64_t device = everywhere;
  Box box;
  Row row = {};
  bool operator==(const Held&) const = default;
};
using HeldMember = Member<HeldId>;

struct Application {
  OperationId operation;
  std::int64_t device = everywhere;
  Box box;                           // over all index dims of the operator
  std::vector<HeldMember> operands;  // as the operation's
  std::vector<HeldMember> results;
  Row row = {};
  bool operator==(const Application&) const = default;
};

// A box of a value that is sent from one device to another.
struct Move {
  OperationId operation;  // the transfer
  HeldMember from, to;
  Box box;
  Row row = {};
  bool operator==(const Move&) const = default;
};

using Task = std::variant<Application, Move>;
inline OperationId operation_of(const Task& task) {
  return std::visit([](const auto& one) { return one.operation; }, task);
}

// The numbers that change along a row (row.h), in this order.
inline Numbers numbers_of(Held& held) { return {&held.box, {&held.device}}; }
inline Numbers numbers_of(Application& task) {
  Numbers numbers{&task.box, {&task.device}};
  numbers.append(task.operands);
  numbers.append(task.results);
  return numbers;
}
inline Numbers numbers_of(Move& move) { return {&move.box, {&move.from.number, &move.to.number}}; }
inline Numbers numbers_of(Task& task) {
  return std::visit([](auto& one) { return numbers_of(one); }, task);
}
inline Row& row_of(Task& task) {
  return std::visit([](auto& one) -> Row& { return one.row; }, task);
}

struct BlockGraph {
  GraphId graph;  // of the program, which has the values and operations
  std::vector<Held> held;
  std::vector<Task> tasks;     // in execution order
  std::vector<HeldId> inputs;  // as the graph's

  // For each of the graph's outputs, all that is held of it.
  std::vector<std::vector<HeldId>> outputs;
  // If a mesh orders its devices differently: the id of the device at each position; `device` above is then a position.
  // Empty: `device` is the id itself.
  std::vector<std::int64_t> devices = {};
  std::int64_t device_at(std::int64_t index) const {
    const bool listed = index >= 0 && index < static_cast<std::int64_t>(devices.size());
    return listed ? devices[static_cast<std::size_t>(index)] : index;
  }

  const Held& operator[](HeldId id) const { return held[id.index()]; }
  Held operator[](HeldMember one) const { return member(held[one.id.index()], one.number); }
  bool operator==(const BlockGraph&) const = default;
};

// Dims whose points are separate applications: block dims of parallel dims, and placed dims.
std::vector<std::uint32_t> application_dims(const Operator& op, const Operation& operation);
// The boxes of the applications, row-major in these dims. Sequential blocks stay together in one application.
std::vector<Box> application_boxes(const Operator& op, const std::vector<std::uint32_t>& dims, const Box& within);
// Splits an application into its blocks, as rows. The number of rows does not depend on the number of blocks.
std::vector<Task> applications(const Operator& op, const Operation& operation, Application all);
std::vector<Task> one_by_one(const std::vector<Task>& tasks);
// The same, without rows across devices: rows differ only in their boxes, or, with `one_by_one`, there are none.
BlockGraph by_device(const BlockGraph& blocks);
BlockGraph one_by_one(const BlockGraph& blocks);
// The box for an operator whose blockings are ignored: a reduction block dim has one point.
Box box_to_run(const Operator& op, Box box);

// The hull of the cells of one operand, or result, that the accesses of a box touch, clipped to the tensor. An empty
// reduction still writes.
Box read_region(const Operator& op, std::uint32_t operand, const Box& box);
// The same as disjoint boxes: several only if they leave out at least half of the hull, as for reads at both ends of a
// tensor.
std::vector<Box> read_pieces(const Operator& op, std::uint32_t operand, const Box& box);
Box written_region(const Operator& op, std::uint32_t result, Box box);

// Ceil blocks (blocks.h), as a list.
std::vector<Range> ceil_blocks(Range range, std::int64_t count);

// For people: what each device does, and a line for each task. stage_text.h has the form that can be parsed.
std::string print(const Program& program, const BlockGraph& graph);
std::string print_in_rows(const Program& program, const BlockGraph& graph);

}  // namespace tap::ir
