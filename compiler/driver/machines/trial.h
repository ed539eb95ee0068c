// A small program that is compiled, run repeatedly, and timed, for `tapc calibrate`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/compiled_program.h"
#include "compiler/driver/session.h"
#include "ir/machine.h"

namespace tap::driver {

struct Trial {
  std::string text;  // of the program
  std::size_t threads = 1;
  double seconds = 0.04;                     // total run time
  bool strict = false;                       // no reassociation of floats
  std::vector<std::int32_t> pinned_to = {};  // the processor of each thread (runtime/pinning.h)
};

struct TrialResult {
  double least = 0;   // seconds of the fastest run
  double spread = 0;  // relative spread of the minima of each fifth of the runs
  std::vector<backend::Kernel> kernels;
  std::vector<ir::Box> boxes;  // of the first call of each kernel
};
// Inputs are numbers between 0.5 and 1.5, or small integers.
TrialResult run_trial(Session& session, const Trial& trial, const ir::Machine& machine);

}  // namespace tap::driver
