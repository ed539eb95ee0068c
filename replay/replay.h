// Checks the last stages by simulation: runs their tasks in order on memories that track only which cells of which
// values they hold. It trusts neither expand nor schedule, and shares no code with them.
//
// check/ proves a step for any number of blocks; this visits every task.
#pragma once

#include <string>
#include <vector>

#include "check/verdict.h"
#include "ir/block_graph.h"
#include "ir/schedule.h"

namespace tap::check {

// Checks that the tasks compute what the program says. Pre: the program is well-formed.
void check_expansion(const ir::Program& program, const std::vector<ir::BlockGraph>& blocks, const std::string& where,
                     Verdict& verdict);
void check_schedule(const ir::Program& program, const ir::Schedule& schedule, const std::string& where,
                    Verdict& verdict);

// Checks which kernel computes what: each operator has a kernel that computes it, from operands packed as that kernel
// expects.
void check_kernels(const ir::Program& program, const ir::Schedule& schedule);

// The tasks of a graph: those of a schedule, or those of a block graph in the same form.
struct Tasks {
  ir::GraphId graph;
  const ir::Schedule& schedule;
  std::vector<std::vector<ir::BufferId>> outputs;  // by output of the graph: the buffers with its parts
  Obligation does, reads, keeps;                   // the obligations for results, reads and writes
  bool scheduled;                                  // a call is one block of a stream (execution.h)
};
bool run_tasks(const ir::Program& program, const Tasks& tasks, const std::string& where, Verdict& verdict);

}  // namespace tap::check
