// Shardings and their reasons as JSON: `tapc sharding --json` (docs/schema/sharding.schema.json) and reports.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "compiler/driver/show/report_sources.h"
#include "compiler/driver/show/sharding_reasons.h"
#include "passes/caution.h"

namespace tap::driver {

// {"mesh": "pod", "axis": "data", "state": "inherited", "dim": 0, "from": "X", "operation": "H", "source": [[0, 7, 7]], …}
nlohmann::ordered_json reason_json(const ir::Program& program, const AxisReason& reason, ReportSources& sources);

// Meshes, values with a reason for each mesh axis, and moves.
nlohmann::ordered_json sharding_json(const Session& session, FileId file, const passes::Propagated& found,
                                     const ValueLocations& locations, const passes::Caution& caution = {});

}  // namespace tap::driver
