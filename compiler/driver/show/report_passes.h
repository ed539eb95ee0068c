// What each pass did, from the claims of its step: every operation that is new or differs, by which rule, and the
// source lines that it comes from.
//
//   simplify_cells   Y  simplified  a * 1 = a  layer.tap:9
//   compose_maps     Y  composed
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <vector>

#include "compiler/driver/show/report_sources.h"
#include "ir/certificate.h"
#include "ir/graph.h"
#include "passes/pass.h"
#include "passes/pass_manager.h"

namespace tap::driver {

// `seconds`: of each pass, or null. Pre: `stages` are the source and the result of each step. The passes that ran are all up to the sharded graph.
nlohmann::ordered_json report_passes(const std::vector<ir::Program>& stages, const ir::Certificate& certificate,
                                     const std::vector<passes::Remark>& remarks, const passes::PassSeconds* seconds,
                                     ReportSources& sources);

}  // namespace tap::driver
