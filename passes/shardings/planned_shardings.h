// The inverse of plan_shardings.h: how operations and values are divided if the lines of a plan divide them.
//
//   split Y dim i into 2 over grid.data        Y held as grid[{data}, {}]
//   split Y dim k into 4 over grid.model       … after partials over model are combined,
//   split Y dim o into 4 over grid.model       … each device a part of them: grid[{data}, {model}]
//   split W on axis 0 into 4 over grid.model   W held as grid[{model}, {}]
//
// Operations without lines are not divided.
#pragma once

#include <set>
#include <vector>

#include "passes/shardings/plan_shardings.h"

namespace tap::passes {

struct PlannedShardings {
  ir::Program program;  // with the plan's meshes; values have the shardings in which they are held
  ChosenSites sites;
  std::set<ir::ValueId> divided;  // inputs that lines divide: each reader has a copy of its own
  // Lines that no sharding describes: other placements than axes of a mesh, uneven blocks, a second mesh for an operation.
  std::vector<std::string> not_shown;
};

// `plan` is complete: what shardings of the program imply is part of it (follow_shardings.h). Pre: calls are inlined; the
// program is as the plan's splits expect it.
PlannedShardings shardings_of_plan(ir::Program program, const ir::Plan& plan);

}  // namespace tap::passes
