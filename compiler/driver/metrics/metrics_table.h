// The slowest tasks and the worst predictions of a run, for people.
//
//   slowest tasks  task      shards  runs  measured  predicted  ratio
//   H              kernel 0       4     4   1.93 ms    1.71 ms   1.13
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tap::driver {

// Of metrics_of_all(): at most `most` lines each.
std::string metrics_tables(const nlohmann::ordered_json& metrics, std::size_t most);

}  // namespace tap::driver
