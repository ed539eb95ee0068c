// Two plans of a program, or two programs, side by side: predicted time, memory and traffic, and the lines, shardings and
// operations in which they differ.
//
//                      A         B  B / A
//   time         8.10 ms   1.31 ms   0.16
//   memory     268.4 MiB   8.4 MiB   0.03
//
//   plan:
//   + choose Y.s 2
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/show/cost_table.h"
#include "cost/model/traffic.h"

namespace tap::driver {

struct ComparedProgram {
  std::string name;  // mlp.tap, plan by hand.plan
  CostReport report;
  cost::Traffic traffic;
  std::vector<std::string> plan;                               // its lines
  std::vector<std::pair<std::string, std::string>> shardings;  // by the value's name; empty: not sharded
  std::vector<std::string> moves;                              // collectives, with their bytes
};
std::string diff_table(const ComparedProgram& a, const ComparedProgram& b);
std::string diff_json(const ComparedProgram& a, const ComparedProgram& b);

}  // namespace tap::driver
