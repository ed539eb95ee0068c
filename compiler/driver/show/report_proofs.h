// What the checker proved and what it assumed, obligation by obligation, for the panel Proof of a report.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tap::pipeline {
struct Compilation;
}

namespace tap::driver {

// A step is the number of a step of all passes, whose changes show both sides of an operation.
nlohmann::ordered_json report_proofs(const pipeline::Compilation& made);

}  // namespace tap::driver
