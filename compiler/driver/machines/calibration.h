// Measures this machine by small programs of our own code: what a thread computes and moves in a second, and what it takes to
// begin something. Everything is the least of many runs, for others may use the machine, too.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/session.h"
#include "cost/machine/device.h"

namespace tap::driver {

struct Measured {
  std::string name;  // rates.f32.arithmetic
  double value = 0;
  double spread = 0;  // a share of the value: how far repetitions lie apart
};
struct Calibration {
  cost::Device device;
  std::vector<Measured> measured;
};
Calibration calibrate(Session& session, const cost::Device& known);

}  // namespace tap::driver
