// The panel "Time line" of a report: a trace that belongs to the report's program, as JSON (docs/schema/report.schema.json).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "compiler/driver/metrics/read_trace.h"

namespace tap::driver {

// `file`: its name, for people.
nlohmann::ordered_json time_line_json(const Trace& trace, const std::string& file);

}  // namespace tap::driver
