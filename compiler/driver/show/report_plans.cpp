#include "compiler/driver/show/report_plans.h"

#include <nlohmann/json.hpp>

#include "compiler/driver/show/report_geometry.h"
#include "compiler/driver/show/report_graph.h"

namespace tap::driver {

using nlohmann::ordered_json;

ordered_json report_plans(const ReportedPlans& found, ReportSources& sources) {
  ordered_json points = ordered_json::array();
  for (const ReportedPlan& plan : found.plans) {
    ordered_json point = {{"time", plan.predicted.seconds},
                          {"memory", plan.predicted.memory},
                          {"traffic", plan.predicted.traffic},
                          {"mesh", plan.mesh},
                          {"text", plan.text}};
    if (plan.sharded) {
      ordered_json meshes = ordered_json::array();
      for (const ir::Mesh& mesh : plan.sharded->meshes) meshes.push_back(report_mesh(mesh));
      point["meshes"] = std::move(meshes);
      point["stage"] =
          report_stage(*plan.sharded, "sharded", "split by this plan, with the transfers that it needs", sources);
    }
    points.push_back(std::move(point));
  }
  return {{"command", found.command},
          {"strategies", found.strategies},
          {"exhaustive", found.exhaustive},
          {"picked", found.picked},
          {"points", std::move(points)}};
}

}  // namespace tap::driver
