// The forms of a program that `tapc plan` divides over a mesh: with the groups that the cost model decides for one device, and
// without them. Neither is always the better one: a group saves the memory of large values, and cannot divide the reductions
// inside of it.
//
//   Y = attention(Q, K, V), 4096 x 4096 x 64 over [x: 4]
//   split Y.t dim j into 4 over grid.x, …                                  34 MiB per device
//   fuse Y.t.sum, Y.t, … , split Y.s.o dim i into 4 over grid.x, …          7 MiB
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cost/search/site_time.h"
#include "ir/graph.h"
#include "ir/plan.h"

namespace tap::driver {

struct ProgramToDivide {
  ir::Program program;
  std::vector<ir::Decision> lines = {};  // of a plan, that made it: choices, unrolled steps, groups
  std::shared_ptr<cost::OperationTimes> times = {};
};
struct FormsOfProgram {
  std::vector<ProgramToDivide> all;  // the first one without decided groups
  // With the groups that the cost model decides for a plan that divides operations. Empty: groups are not decided.
  std::function<ProgramToDivide(const ir::Plan&)> grouped_for = {};
  // With these lines and no others; `kept` are among them.
  std::function<ProgramToDivide(const std::vector<ir::Decision>&)> with_lines = {};
  std::vector<ir::Decision> kept = {};
};

}  // namespace tap::driver
