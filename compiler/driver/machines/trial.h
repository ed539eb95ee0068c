// A small program that is compiled, run repeatedly, and timed, for `tapc calibrate`.
#pragma once

#include <string>
#include <vector>

#include "backend/compiled_program.h"
#include "compiler/driver/session.h"
#include "ir/machine.h"

namespace tap::driver {

struct Trial {
  std::string text;  // of the program
  std::size_t threads = 1;
  double seconds = 0.04;  // to run it, in all
  bool strict = false;    // floats are combined as they are written
};

struct TrialResult {
  double least = 0;   // seconds of the fastest run
  double spread = 0;  // of the least of each fifth of the runs: how far they lie apart, as a share
  std::vector<backend::Kernel> kernels;
  std::vector<ir::Box> boxes;  // of the first call of each kernel
};
// Inputs are numbers between 0.5 and 1.5, or small whole ones.
TrialResult run_trial(Session& session, const Trial& trial, const ir::Machine& machine);

}  // namespace tap::driver
