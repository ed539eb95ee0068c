// Measures this machine with small programs: the speed of a thread in arithmetic and memory, and the fixed costs of
// starting work. Each figure is the minimum of many runs, since other processes may use the machine, too.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "cost/machine/device.h"

namespace tap::driver {

struct Measured {
  std::string name;  // rates.f32.arithmetic
  double value = 0;
  double spread = 0;  // relative spread of repetitions
};
struct Calibration {
  cost::Device device;
  std::vector<Measured> measured;
};
// `has_chosen`: the processors that this process may use are the user's choice. All threads are one per core, pinned as in runs.
Calibration calibrate(Session& session, const cost::Device& known, bool has_chosen);

}  // namespace tap::driver
