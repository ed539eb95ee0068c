// How the operations of a program could be divided over the mesh of a plan, all else of the plan being equal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/compile_file.h"
#include "compiler/driver/session.h"
#include "cost/search/divisions.h"
#include "ir/plan.h"

namespace tap::driver {

struct DividedPlan {
  std::string file, machine;
  SourceOptions source;
  ir::Plan plan;  // of which lines over a mesh and choices count
};
struct PlanDivisions {
  std::string mesh;
  cost::Cluster cluster;
  std::vector<cost::Divisions> sites;
  std::vector<std::string> why_none;  // lines that the search does not know
};
PlanDivisions divisions_of_plan(Session& session, const DividedPlan& from,
                                const std::function<bool(const std::string&)>& is_about);

}  // namespace tap::driver
