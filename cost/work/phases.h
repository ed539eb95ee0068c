// The loops of a kernel that follow each other in each of its tiles: while one computes, the data of the next is not loaded.
//
//   for i { for k { m = max(m, x[i, k]) }  for k { s += exp(x[i, k] - m) } }     two phases for each i
#pragma once

#include <vector>

#include "backend/loops/loops.h"

namespace tap::cost {

// The outermost body with several serial loops; null if there is none.
const std::vector<backend::Statement>* phases_of(const backend::Kernel& kernel);

// Whether its loops can be phases.
bool has_serial_loop(const std::vector<backend::Statement>& body);

}  // namespace tap::cost
