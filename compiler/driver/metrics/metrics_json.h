// Metrics as JSON (docs/schema/metrics.schema.json): what one process measured, and all of them together.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "compiler/driver/metrics/run_metrics.h"

namespace tap::driver {

// {"process": …, "tasks": […], "transfers": […]}
nlohmann::ordered_json metrics_of_process(const RunMetrics& metrics, std::int64_t process);

struct RunName {
  std::string file, program;
};
nlohmann::ordered_json metrics_of_all(const RunName& name, const std::vector<nlohmann::ordered_json>& processes);

}  // namespace tap::driver
