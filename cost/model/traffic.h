// What devices receive from each other in one run of a program.
//
//   Traffic traffic = traffic_of(lowered.blocks);      traffic.busiest: bytes received by the device that receives most
#pragma once

#include "ir/block_program.h"

namespace tap::cost {

struct Traffic {
  double bytes = 0, messages = 0;  // of all devices
  double busiest = 0;              // bytes, of the device that receives most
  bool operator==(const Traffic&) const = default;
};
Traffic traffic_of(const ir::BlockProgram& blocks);

}  // namespace tap::cost
