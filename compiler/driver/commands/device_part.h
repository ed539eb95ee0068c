// The part of one device in a program that is split over devices: what it computes, and what it receives from others.
//
//   device 3: 2 applications, receives 1 box of 16 bytes from other devices
//   block graph p
//     move X[6..7]@3 = X[6..7]@2
//     device 3: Y[6..8] = y(X[5..8]) on [6..8]
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph_ids.h"

namespace tap::driver {

// Pre: realised. Throws Failure if no operation runs on that device.
std::string part_of_device(const ir::Program& program, std::int64_t device);
void require_device(const ir::Program& program, std::int64_t device);  // throws the same Failure

}  // namespace tap::driver
