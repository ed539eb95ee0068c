// One tile of a group, run by one thread: its operations one after another on the boxes that demand gives them, with memory
// for just these regions of the values that are only inside.
#pragma once

#include <atomic>
#include <optional>

#include "backend/call.h"
#include "backend/compiled_program.h"

namespace tap::backend {

// Bytes of values inside of groups, of all threads together.
struct InnerMemory {
  std::atomic<std::size_t> now{0}, most{0};
  void add(std::size_t bytes);
  void remove(std::size_t bytes) { now -= bytes; }
};

// Where the operands and results of a group lie.
struct GroupArguments {
  ir::OperatorId group;
  std::vector<View> operands, results;
};

struct GroupFailure {
  ir::GraphId graph;  // the inner one
  ir::OperationId operation;
  KernelFailure why;
  KernelError error;
};

// Runs the group's operations on `tile`, a box of its dims (group_tiles.h). `counters`: of the iterates that run. The first
// failure ends it.
std::optional<GroupFailure> run_tile(const CompiledProgram& compiled, const GroupArguments& arguments,
                                     const ir::Box& tile, const std::vector<std::int64_t>& counters,
                                     InnerMemory& memory);

}  // namespace tap::backend
