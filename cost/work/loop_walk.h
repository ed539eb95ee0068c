// Traverses a kernel's loops without executing them: one iteration represents all similar ones.
#pragma once

#include <functional>
#include <vector>

#include "cost/work/loop_values.h"

namespace tap::cost {

// Variables on which it depends how often a loop inside goes round, or whether a guard holds, in more ways than one: of their
// loops the last round is looked at on its own.
std::vector<bool> deciding_variables(const backend::Kernel& kernel);

struct Sample {
  double value = 0;
  double times = 0;  // so many rounds are like it
};
std::vector<Sample> samples_of(const backend::For& loop, const Rounds& rounds, bool decides);

// The part of the rounds in which the conditions hold.
double share_of(const backend::Guard& guard, const LoopValues& values);

}  // namespace tap::cost
