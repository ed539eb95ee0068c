// Runs the devices of a program on a model of the machine, event by event (README.md).
//
//   Simulation run = simulate(roles, parts);
//   run.seconds                   until the last device has finished
//   run.devices[role].busy        seconds of computing of one such device
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/simulate/device_part.h"
#include "cost/simulate/roles.h"

namespace tap::cost {

struct SimulatedTask {
  std::string name, what;
  double begin = 0, end = 0;  // of a message: from when it is complete at the sender
  std::int64_t from = -1;     // of a message
  double bytes = 0;
};

struct SimulatedDevice {  // of one role
  std::int64_t device = 0, count = 1;
  double end = 0;                     // when it has finished
  double busy = 0;                    // seconds in which it computes
  double waiting = 0;                 // … in which it waits for messages
  double messages = 0, received = 0;  // bytes
  double peak_bytes = 0;
  std::vector<SimulatedTask> tasks = {};  // if they are wanted
};

struct LinkUse {
  std::string name;  // of the machine file's link; "between pairs"
  double messages = 0, bytes = 0;
};

struct Simulation {
  double seconds = 0;
  std::int64_t count = 0;                // of devices
  double idle = 0;                       // the share of all devices' time in which they do not compute
  std::vector<SimulatedDevice> devices;  // by role
  std::vector<LinkUse> links;            // of the machine file, innermost first
  std::int64_t events = 0;               // simulated
  std::int64_t trips_skipped = 0;        // of long iterates, which go on like the last simulated ones
};

struct SimulationOptions {
  bool tasks = false;
  std::int64_t most_trips = 64;  // simulated of each iterate
};

Simulation simulate(const Roles& roles, DeviceParts& parts, const SimulationOptions& options = {});

}  // namespace tap::cost
