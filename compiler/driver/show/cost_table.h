// The predicted cost of a program as a table, or as JSON with every number.
//
//   operation  what      total    compute  waiting  l2  l3  memory  hidden  starting  …
//   C          kernel 0  1.93 ms  1.90 ms  …
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cost/model/model.h"

namespace tap::driver {

struct MemoryCost {  // bytes, by the schedule's plan
  double inputs = 0, outputs = 0, arena = 0, prepared = 0, scratch = 0;
  double peak() const { return inputs + outputs + arena + prepared + scratch; }
};

nlohmann::ordered_json json_of(const MemoryCost& memory);

struct CostReport {
  std::string file;
  cost::ProgramCost cost;
  MemoryCost memory;
};
std::string cost_table(const CostReport& report, const cost::Model& model);
std::string cost_json(const CostReport& report, const cost::Model& model);

}  // namespace tap::driver
