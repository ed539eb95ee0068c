// What the tasks of the last stages compute, found by running them, one after another, on memories of which only that is
// known which cells of which values they hold. Believes neither expand nor schedule, and shares nothing with them.
//
// Where check/ proves a step for any number of blocks, this looks at every task that is listed.
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

}  // namespace tap::check
