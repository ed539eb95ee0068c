// What a decision considered: for some operations, the plan lines of each alternative with its predicted cost, and which of
// them was taken.
//
//   S, P.m, P.s, P, Y      as they are                          143 ms   768 MiB
//                          fuse S, P.m, P.s, P, Y over h, i     109 ms   256 MiB   taken
#pragma once

#include <string>
#include <vector>

#include "cost/decide/pricer.h"
#include "ir/plan.h"

namespace tap::cost {

struct Alternative {
  std::vector<ir::Decision> lines;  // none: the operations as they are
  Prediction price;
  bool justified = true;  // false: the checker does not accept it
};
struct Consideration {
  std::vector<std::string> operations;    // as a plan calls them
  std::vector<Alternative> alternatives;  // in the order in which they were priced
  std::size_t taken = 0;
};

}  // namespace tap::cost
