// Traverses a kernel's loops without executing them: one iteration represents all similar ones.
#pragma once

#include <functional>
#include <vector>

#include "cost/work/loop_values.h"

namespace tap::cost {

// Variables that affect the iteration count of an inner loop, or whether a guard holds, so that not all of their
// iterations are alike: the last iteration of their loops is analysed separately.
std::vector<bool> deciding_variables(const backend::Kernel& kernel);

struct Sample {
  double value = 0;
  double times = 0;  // the number of similar iterations
};
std::vector<Sample> samples_of(const backend::For& loop, const Rounds& rounds, bool decides);

// The fraction of iterations in which the conditions hold.
double share_of(const backend::Kernel& kernel, const backend::Guard& guard, const LoopValues& values);

}  // namespace tap::cost
