// How `tapc explain` shows the ways in which operations could be divided over a mesh: that of the plan, and others, best first.
//
//   3 ways to divide H over grid, if the rest of the plan stays; predicted time, memory and messages of a device:
//     division                                time  memory  received  loops  partials  results
//     i over data       as the plan says     71 us  64 KiB    16 KiB  60 us         -    11 us
//     k over data       slower by 10 us      81 us  64 KiB    32 KiB  60 us     10 us    11 us
//     not divided       slower by 129 us    200 us  96 KiB         -  200 us        -        -
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "cost/machine/device.h"
#include "cost/search/divisions.h"

namespace tap::driver {

std::string divisions_text(const std::vector<cost::Divisions>& sites, const std::string& mesh,
                           const cost::Cluster& cluster);
nlohmann::ordered_json divisions_json(const std::vector<cost::Divisions>& sites, const cost::Cluster& cluster);

}  // namespace tap::driver
