// The operator that a kernel was made from, and where it is used: the reference for its self-check (self_check.h).
#pragma once

#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

struct KernelSource {
  ir::Operator op;
  std::vector<ir::Box> boxes = {};  // of its applications, a few of each size
  std::vector<PreparedOperand> prepared = {};
  std::vector<BoxStep> steps = {};  // by dim
};

}  // namespace tap::backend
