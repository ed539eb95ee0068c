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

// That the tasks compute what the program says. Pre: the program is well-formed.
void check_expansion(const ir::Program& program, const std::vector<ir::BlockGraph>& blocks, const std::string& where,
                     Verdict& verdict);
void check_schedule(const ir::Program& program, const ir::Schedule& schedule, const std::string& where,
                    Verdict& verdict);

// Which kernel computes what: of each operator one that computes it, given its operands as that kernel wants them.
void check_kernels(const ir::Program& program, const ir::Schedule& schedule);

// Tasks that do what a graph says: those of a schedule, or those of a block graph, written as one.
struct Tasks {
  ir::GraphId graph;
  const ir::Schedule& schedule;
  std::vector<std::vector<ir::BufferId>> outputs;  // for each of the graph's all that has a part of it in the end
  Obligation does, reads, keeps;  // who objects to other results, to what is read, and to what is written
  bool scheduled;                 // a call is one step of a walk (execution.h)
};
bool run_tasks(const ir::Program& program, const Tasks& tasks, const std::string& where, Verdict& verdict);

}  // namespace tap::check
