// The report that `tapc inspect -o report.html` writes: one page that opens without a network, with its data inside
// (docs/schema/report.schema.json). The page's program is in report/.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

#include "compiler/driver/session.h"
#include "compiler/driver/show/decision_report.h"
#include "compiler/driver/show/report_plans.h"
#include "compiler/driver/show/value_locations.h"
#include "compiler/pipeline/pipeline.h"
#include "passes/pass_manager.h"
#include "passes/shardings/propagate.h"

namespace tap::driver {

// What other decisions would cost: for values, in the program that `graph` names as the shardings' one.
struct ReportedCosts {
  const cost::Cluster& cluster;
  const std::vector<cost::Consideration>& considered;
  cost::ShardingAlternatives* alternatives = nullptr;  // null: not priced
  const cost::Pricer* pricer = nullptr;
};

struct ReportInput {
  FileId file;
  std::string plan;                                   // its name; empty: none
  const pipeline::Compilation& made;                  // up to the sharded graph, with its stages and claims
  const passes::Propagated* propagated;               // with its net; null: no shardings
  const ValueLocations& locations;                    // of annotations
  const ReportedPlans* plans = nullptr;               // that `tapc plan` found, of which `made` has one
  const passes::PassSeconds* seconds = nullptr;       // of each pass
  const ReportedCosts* costs = nullptr;               // of other decisions
  const nlohmann::ordered_json* kernels = nullptr;    // with their code (report_kernels.h)
  const nlohmann::ordered_json* time_line = nullptr;  // of a run (metrics/time_line_json.h)
};
nlohmann::ordered_json report_json(const Session& session, const ReportInput& input);

// The page with this data; the layout of the last stage's graph comes first, so that it can be drawn before the rest is read
// (report/src/first.ts). No text in the data can end the element that holds it.
std::string report_page(nlohmann::ordered_json data);

}  // namespace tap::driver

namespace tap::embedded {

extern const std::string_view report_page;  // report/built/page.html (cmake/embed.cmake)

}  // namespace tap::embedded
