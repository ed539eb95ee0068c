// One stage of a program for the report's page: every graph that main reaches, with the places of its nodes, and the
// operators that they use.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string_view>

#include "compiler/driver/show/report_sources.h"
#include "ir/graph_ids.h"

namespace tap::driver {

nlohmann::ordered_json report_stage(const ir::Program& program, std::string_view name, std::string_view about,
                                    ReportSources& sources);

}  // namespace tap::driver
