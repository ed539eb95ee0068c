// The plans that `tapc plan` found, for the panel Plan of a report and for pictures: predictions and lines of each, and the
// sharded graphs of some.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/show/report_sources.h"
#include "cost/search/sharding_search.h"
#include "ir/graph.h"

namespace tap::driver {

struct ReportedPlan {
  cost::Objectives predicted;
  std::string mesh;                         // grid [data: 4]
  std::string text;                         // the plan as a file
  std::optional<ir::Program> sharded = {};  // what it makes; not of all plans
};
struct ReportedPlans {
  std::string command;  // that found them
  std::size_t strategies = 0;
  bool exhaustive = true;
  std::size_t picked = 0;  // the plan of the report's other panels
  std::vector<ReportedPlan> plans;
};

nlohmann::ordered_json report_plans(const ReportedPlans& found, ReportSources& sources);

// Time and memory as a picture; the area of a point is its traffic.
std::string front_svg(const ReportedPlans& found);

}  // namespace tap::driver
