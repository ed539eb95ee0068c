// The searches of `tapc plan`, one for each mesh: several at the same time, and all of them or as many as there is time for.
#pragma once

#include <functional>
#include <vector>

#include "compiler/driver/planning/plan_front.h"
#include "compiler/driver/planning/program_to_divide.h"
#include "ir/graph.h"

namespace tap::driver {

struct MeshSearch {
  std::vector<ProgramToDivide> programs;  // all with the same meshes
  ir::MeshId mesh = {};
  bool is_declared = false;
  cost::FoundFront found = {};  // of all programs, with the lines that made each; the first ones of the first program
  std::size_t of_first = 0;     // how many
  bool has_begun = false;
  double done = 0;     // part of the search
  double seconds = 0;  // that it took

  const ir::Mesh& on() const { return programs.front().program[mesh]; }
};
// Fills `found`, and removes the searches that the limit leaves out. What is found does not depend on the threads. `progress` and
// options.limits.is_hurried may throw.
void run_searches(std::vector<MeshSearch>& searches, cost::SearchOptions options,
                  const std::function<void(double)>& progress, const MeshLimit& limit);

// Forms of a program are compared with few states, and only the best one is searched with all, unless that is quick.
constexpr std::size_t fewer_for_forms = 64;
inline bool is_quick(const cost::FoundFront& of_few_states) { return of_few_states.work.labels < 20'000; }
cost::SearchOptions with_fewer_states(cost::SearchOptions options, std::size_t fewer);
double least_of_goal(const cost::FoundFront& found, cost::Goal goal);

}  // namespace tap::driver
